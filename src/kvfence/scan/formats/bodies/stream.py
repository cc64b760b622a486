"""A streamed answer put together again: the text of server-sent events, or a list of their chunks, as one body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kvfence.scan.formats.fields import inside
from kvfence.scan.reading.decoded import NotJsonError, decoded

_END = "[DONE]"
_STARTS = ("data: {", "data:{", "event: ", "event:", ": ", ":\n", "id: ", "retry: ")
"""What a stream of events begins with; a comment keeps some gateways' connections alive."""
_EVENTS = {
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
}
_PARTS_MAX = 1000
"""Of one item of a response's output."""
IS_CUT_OFF = "is_cut_off"
"""Set in the body where the stream had a line that is no JSON: the log cut it."""


def chunks_of(body: Any) -> list[Any] | None:
    """The chunks where this is a stream, else None."""
    if isinstance(body, str) and body.lstrip()[:64].startswith(_STARTS):
        return list(_events(body))
    if isinstance(body, list) and body and all(_is_chunk(chunk) for chunk in body):
        return body
    return None


def together(chunks: Iterable[Any]) -> dict[str, Any]:
    """One body of all chunks, as the server would have sent it without streaming."""
    body: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        if not isinstance(chunk, Mapping):
            body[IS_CUT_OFF] = True
            continue
        _head(body, chunk)
        for at, choice in enumerate(_list(chunk.get("choices"))):
            if isinstance(choice, Mapping):
                _add_choice(choices.setdefault(_index(choice, at), {}), choice)
        _add_event(body, blocks, chunk)
    if choices:
        body["choices"] = [_ended(choices[index]) for index in sorted(choices)]
    elif blocks and not body.get("output"):
        body["content"] = [_ended_block(blocks[index]) for index in sorted(blocks)]
    return body


def _events(text: str) -> Iterator[Any]:
    """The data of each event. One that is no JSON is given as it is: a mark of where the log was cut."""
    for line in text.splitlines():
        if not line.startswith("data:"):
            continue
        content = line[5:].strip()
        if content and content != _END:
            try:
                yield decoded(content)
            except NotJsonError:
                yield content


def _is_chunk(chunk: Any) -> bool:
    if not isinstance(chunk, Mapping):
        return False
    of_choices = any(isinstance(choice, Mapping) and "delta" in choice for choice in _list(chunk.get("choices")))
    kind = chunk.get("object") or chunk.get("type")
    return of_choices or (isinstance(kind, str) and (kind.endswith(".chunk") or kind in _EVENTS or "." in kind))


def _head(body: dict[str, Any], chunk: Mapping[str, Any]) -> None:
    for name in ("id", "model", "created"):
        if chunk.get(name) is not None:
            body.setdefault(name, chunk[name])
    if isinstance(chunk.get("usage"), Mapping):
        body["usage"] = {**body.get("usage", {}), **chunk["usage"]}


def _add_choice(kept: dict[str, Any], choice: Mapping[str, Any]) -> None:
    delta = choice.get("delta")
    for name, of in (("text", choice), *((name, delta) for name in ("reasoning_content", "reasoning", "content"))):
        if isinstance(of, Mapping) and isinstance(of.get(name), str):
            kept.setdefault(name, []).append(of[name])
    for at, call in enumerate(_list(inside(delta, "tool_calls"))):
        _add_call(kept.setdefault("tool_calls", {}).setdefault(_index(call, at), {}), inside(call, "function"))
    _add_call(kept.setdefault("function_call", {}), inside(delta, "function_call"))
    if choice.get("finish_reason") is not None:
        kept["finish_reason"] = choice["finish_reason"]


def _add_call(kept: dict[str, Any], function: Any) -> None:
    for name in ("name", "arguments"):
        if isinstance(piece := inside(function, name), str):
            kept.setdefault(name, []).append(piece)


def _ended(kept: dict[str, Any]) -> dict[str, Any]:
    calls = [_joined(kept["tool_calls"][index]) for index in sorted(kept.get("tool_calls", {}))]
    names = ("reasoning_content", "reasoning", "content")
    message: dict[str, Any] = {name: "".join(kept[name]) for name in names if name in kept}
    message["tool_calls"] = calls or [_joined(kept["function_call"])]
    choice = {"message": message, "finish_reason": kept.get("finish_reason")}
    return choice | ({"text": "".join(kept["text"])} if "text" in kept else {})


def _joined(call: dict[str, Any]) -> dict[str, str]:
    return {name: "".join(pieces) for name, pieces in call.items()}


def _add_event(body: dict[str, Any], blocks: dict[int, dict[str, Any]], event: Mapping[str, Any]) -> None:
    """An event of Anthropic's messages or of OpenAI's responses."""
    kind = event.get("type")
    if kind == "message_start" and isinstance(event.get("message"), Mapping):
        _head(body, event["message"])
    elif kind == "content_block_start":
        block = blocks.setdefault(_index(event, 0), {})
        block.update({name: value for name, value in _mapping(event.get("content_block")).items() if name != "input"})
    elif kind in {"content_block_delta", "response.output_text.delta", "response.reasoning_text.delta"}:
        _add_delta(blocks.setdefault(_block_index(event), {}), event.get("delta"))
    elif kind == "response.function_call_arguments.delta":
        _add_delta(blocks.setdefault(_block_index(event), {}), {"partial_json": event.get("delta")})
    elif kind == "message_delta":
        body["stop_reason"] = inside(event, "delta", "stop_reason")
    elif isinstance(kind, str) and kind.startswith("response.") and isinstance(event.get("response"), Mapping):
        body.update(event["response"])


def _block_index(event: Mapping[str, Any]) -> int:
    """Of a content block; of an item of a response's output and of its part."""
    if "index" in event:
        return _index(event, 0)
    return _index(event, 0, "output_index") * _PARTS_MAX + _index(event, 0, "content_index")


def _add_delta(block: dict[str, Any], delta: Any) -> None:
    for name in ("text", "thinking", "partial_json"):
        piece = delta if isinstance(delta, str) and name == "text" else inside(delta, name)
        if isinstance(piece, str):
            block.setdefault("pieces", {}).setdefault(name, []).append(piece)


def _ended_block(block: dict[str, Any]) -> dict[str, Any]:
    pieces = {name: "".join(parts) for name, parts in block.get("pieces", {}).items()}
    kept = {name: value for name, value in block.items() if name != "pieces"}
    for name in ("text", "thinking"):
        if name in pieces:
            kept[name] = f"{kept.get(name) or ''}{pieces[name]}"
    if "partial_json" in pieces:
        kept |= {"type": kept.get("type", "tool_use"), "input": pieces["partial_json"]}
    return kept


def _index(value: Any, otherwise: int, name: str = "index") -> int:
    index = inside(value, name)
    return index if isinstance(index, int) else otherwise


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
