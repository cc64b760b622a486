"""Drafts as lines of the plain form: bodies of OpenAI's and Anthropic's APIs, whole or streamed."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from support.scan_corpus.draft import Draft

SHAPES = ("chat", "stream", "anthropic", "completions", "tool", "ascii")
SHAPE_WEIGHTS = (60, 12, 10, 5, 6, 7)
BYTES_PER_TOKEN = 4
PIECE_CHARS = 24
"""Of a streamed answer in one event."""
_ASCII_BYTES_MAX = 1 << 20
_encode = msgspec.json.Encoder().encode


def line(draft: Draft) -> bytes:
    """The exchange as one line of JSON."""
    record = {
        "id": draft.id,
        "created": round(draft.at_s, 3),
        "user": draft.tenant,
        "session": draft.session,
        "model": draft.model,
        "status": draft.status,
        "request": _request(draft),
        "response": _response(draft),
    }
    if draft.shape == "ascii" and sum(len(text) for _, text in draft.turns) < _ASCII_BYTES_MAX:
        return json.dumps(record).encode() + b"\n"
    return _encode(record) + b"\n"


def _request(draft: Draft) -> dict[str, Any]:
    turns = draft.turns
    if draft.shape == "completions":
        return {"model": draft.model, "prompt": "\n\n".join(text for _, text in turns)}
    if draft.shape == "anthropic":
        system = "\n".join(text for role, text in turns if role == "system")
        rest = [{"role": "user" if role == "tool" else role, "content": [{"type": "text", "text": text}]}
                for role, text in turns if role != "system"]  # fmt: skip
        return {"model": draft.model, "max_tokens": 4096, "system": system, "messages": rest}
    messages = [{"role": role, "content": text} for role, text in turns]
    return {"model": draft.model, "messages": messages} | ({"stream": True} if draft.shape == "stream" else {})


def _response(draft: Draft) -> Any:
    if draft.status >= 400:
        return {"error": {"message": "the prompt is longer than this model's context", "code": draft.status}}
    sent, said = _tokens(sum(len(text) for _, text in draft.turns)), _tokens(len(draft.answer))
    usage = {"prompt_tokens": 1 if draft.counted_as_one else sent, "completion_tokens": said}
    match draft.shape:
        case "anthropic":
            counts = {"input_tokens": usage["prompt_tokens"], "output_tokens": said}
            content = [{"type": "text", "text": draft.answer}]
            return {"type": "message", "role": "assistant", "content": content, "usage": counts} | _stop("end_turn")
        case "completions":
            return {"choices": [{"text": draft.answer, "finish_reason": "stop"}], "usage": usage}
        case "stream":
            return _streamed(draft.answer, usage)
        case "tool":
            call = {"name": "write_file", "arguments": json.dumps({"path": "notes.txt", "content": draft.answer})}
            message = {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": call}]}
            return {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage}
        case _:
            message = {"role": "assistant", "content": draft.answer}
            return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def _stop(reason: str) -> dict[str, str]:
    return {"stop_reason": reason}


def _streamed(answer: str, usage: dict[str, int]) -> str:
    events = [
        {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": answer[at : at + PIECE_CHARS]}}],
        }
        for at in range(0, len(answer), PIECE_CHARS)
    ]
    end = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    lines = [_encode(event).decode() for event in (*events, end, {"object": "x.chunk", "choices": [], "usage": usage})]
    return "".join(f"data: {one}\n\n" for one in lines) + "data: [DONE]\n\n"


def _tokens(chars: int) -> int:
    return max(1, chars // BYTES_PER_TOKEN)
