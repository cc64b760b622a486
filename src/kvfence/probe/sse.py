"""An answer that came as server-sent events, though it was not asked for that way, put together again. Pure."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

KIND = "text/event-stream"
DONE = "[DONE]"


class CutOffError(ValueError):
    """The stream ended before its end was said."""


class ErrorEventError(ValueError):
    """An error came in the middle of the stream; `body` is its event."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("an error in the middle of the stream")
        self.body = body


def joined(content: bytes) -> dict[str, Any]:
    """One answer in the shape of one that was not streamed. Raises `CutOffError`, or `ValueError` for other things."""
    texts: list[str] = []
    usage: object = None
    reason: object = None
    provider: object = None
    is_done = False
    for event in events(content):
        if event == DONE:
            is_done = True
            break
        body = json.loads(event)
        if not isinstance(body, dict):
            raise ValueError("an event that is no object")  # noqa: TRY004 — it came from outside
        if body.get("error"):
            raise ErrorEventError(body)
        usage = body.get("usage") or usage
        provider = body.get("provider") or provider
        texts.append(_text_of(body))
        for choice in body.get("choices") or ():
            reason = choice.get("finish_reason") or reason
    if not is_done and reason is None:
        raise CutOffError("it ended in the middle of the answer")
    choice = {"message": {"content": "".join(texts)}, "finish_reason": reason}
    return {"choices": [choice], "usage": usage, "provider": provider}


def said_so_far(content: bytes) -> str:
    """The text of a stream's whole events, also where it was cut off or something else is wrong; empty for none."""
    texts: list[str] = []
    for event in events(content):
        with contextlib.suppress(ValueError, AttributeError, TypeError):
            texts.append(_text_of(json.loads(event)))
    return "".join(texts)


def _text_of(body: dict[str, Any]) -> str:
    """What one event adds to the answer; Anthropic's come in `content_block_delta` events."""
    delta = body.get("delta")
    if isinstance(delta, dict) and isinstance(delta.get("text"), str):
        return str(delta["text"])
    parts = (choice.get("delta", choice.get("message")) or choice for choice in body.get("choices") or ())
    return "".join(part.get("content") or part.get("text") or "" for part in parts)


def events(content: bytes) -> Iterator[str]:
    """The data of each whole event. What is left at the end without an empty line is none."""
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n")
    for block in text.split("\n\n")[:-1]:
        lines = [line[len("data:") :].lstrip(" ") for line in block.split("\n") if line.startswith("data:")]
        if lines:
            yield "\n".join(lines)
