"""The body of a response: OpenAI's chat, completions and responses, Anthropic's messages; whole, or as a stream.

All choices count: a text that came back in the second one came back. Field names: OpenAI API reference, Anthropic
API reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Coverage
from kvfence.scan.formats.bodies.sent import opened
from kvfence.scan.formats.bodies.stream import chunks_of, together
from kvfence.scan.formats.bodies.texts import BETWEEN, message_texts, texts_of
from kvfence.scan.formats.fields import count_of, inside, ms_of, name_of
from kvfence.scan.formats.format import Answered, Said


def answer_of(body: Any) -> Answered:
    """What a response says. One that is text itself is its own answer; an error, or none, has no text."""
    chunks = chunks_of(body)
    if chunks is not None:
        return answer_of(together(chunks))
    body = opened(body)
    if isinstance(body, str):
        return Answered(said=Said(body)) if body else Answered()
    if isinstance(body, list):
        return Answered(said=Said(BETWEEN.join(text for message in body for text in message_texts(message))))
    if not isinstance(body, Mapping):
        return Answered()
    if isinstance(body.get("response"), Mapping) and "object" not in body:
        body = body["response"]
    texts = _texts(body)
    return Answered(
        said=Answered().said if texts is None else Said(BETWEEN.join(texts), _coverage(body)),
        id=name_of(body.get("id")),
        model=name_of(body.get("model")),
        finish=_finish(body),
        prompt_tokens=_prompt_tokens(body),
        answer_tokens=_tokens(body, "completion_tokens", "output_tokens"),
        began_ms=ms_of(body.get("created") or body.get("created_at")),
    )


def _texts(body: Mapping[str, Any]) -> Iterator[str] | None:
    """The texts of a body; None where it is one that has no place for any."""
    match body:
        case {"choices": list(choices)}:
            return (text for choice in choices for text in _of_choice(choice))
        case {"output": list(items)}:
            return (text for item in items for text in texts_of(item))
        case {"candidates": list(candidates)}:
            return (text for candidate in candidates for text in texts_of(inside(candidate, "content", "parts")))
        case {"content": str() | list()} | {"role": "assistant"}:
            return message_texts(body)
        case {"text": str() | list() as text} | {"completion": str() as text} | {"output_text": str() as text}:
            return texts_of(text)
        case _:
            return None


def _of_choice(choice: Any) -> Iterator[str]:
    if not isinstance(choice, Mapping):
        return
    yield from texts_of(choice.get("text"))
    yield from message_texts(choice["message"] if isinstance(choice.get("message"), Mapping) else {})


def _coverage(body: Mapping[str, Any]) -> Coverage:
    return Coverage.CUT if body.get("is_cut_off") is True else Coverage.WHOLE


def _finish(body: Mapping[str, Any]) -> str | None:
    """The first reason that a choice gives, or the status of a response that has no choices."""
    choices = body.get("choices")
    reasons = [name_of(inside(choice, "finish_reason")) for choice in choices] if isinstance(choices, list) else []
    incomplete = inside(body, "incomplete_details", "reason")
    whole = [name_of(body.get("stop_reason")), name_of(incomplete), name_of(body.get("status"))]
    return next((reason for reason in [*reasons, *whole] if reason), None)


def _prompt_tokens(body: Mapping[str, Any]) -> int | None:
    """All of the prompt: Anthropic's `input_tokens` are those that no cache had; its caches are counted beside them."""
    if (count := _tokens(body, "prompt_tokens")) is not None:
        return count
    if (count := _tokens(body, "input_tokens")) is None:
        return None
    return count + sum(_tokens(body, name) or 0 for name in ("cache_creation_input_tokens", "cache_read_input_tokens"))


def _tokens(body: Mapping[str, Any], *names: str) -> int | None:
    return next((count for name in names if (count := count_of(inside(body, "usage", name))) is not None), None)
