"""The body of a request: OpenAI's chat, completions and responses, Anthropic's messages. What it says, in order.

Field names: OpenAI API reference (chat/create, completions/create, responses/create), Anthropic API reference
(messages). A key tells which one it is; nothing depends on the path that it was sent to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Coverage
from kvfence.scan.formats.bodies.texts import BETWEEN, call_texts, message_texts, scalars, texts_of
from kvfence.scan.formats.format import NOTHING, Said
from kvfence.scan.reading.decoded import NotJsonError, decoded

_KEYS = ("messages", "prompt", "input", "instructions", "system", "contents", "text")
_TOOLS = ("tools", "functions", "response_format")


def prompt_of(body: Any) -> Said:
    """All the text of a request's body; a body that is text itself is its own prompt."""
    body = opened(body)
    if isinstance(body, str):
        return Said(body) if body else NOTHING
    if isinstance(body, list):
        return _said(text for message in body for text in _of_item(message))
    if not isinstance(body, Mapping) or not any(name in body for name in _KEYS):
        return NOTHING
    if _is_token_ids(body.get("prompt")) or _is_token_ids(body.get("input")):
        return NOTHING
    return _said(_of_body(body))


def opened(body: Any) -> Any:
    """A body that is kept as JSON in a string, as what it says; other values as they are."""
    if isinstance(body, str) and body.lstrip()[:1] in {"{", "["}:
        try:
            return decoded(body)
        except NotJsonError:
            return body
    return body


def tenant_of(body: Any) -> str | None:
    """Whom the request names as its user."""
    if not isinstance(body, Mapping):
        return None
    about = body.get("metadata")
    named = about.get("user_id") if isinstance(about, Mapping) else None  # Anthropic's
    return next((name for name in (body.get("user"), named) if isinstance(name, str) and name), None)


def model_of(body: Any) -> str | None:
    """Which model was asked for."""
    model = body.get("model") if isinstance(body, Mapping) else None
    return model if isinstance(model, str) and model else None


def _of_body(body: Mapping[str, Any]) -> Iterator[str]:
    for name in ("instructions", "system"):
        yield from texts_of(body.get(name))
    for name in _TOOLS:
        yield from scalars(body.get(name))
    for name in ("messages", "prompt", "input", "contents", "text"):
        content = body.get(name)
        for item in content if isinstance(content, list) else [content]:
            yield from _of_item(item)
    yield from texts_of(body.get("suffix"))


def _of_item(item: Any) -> Iterator[str]:
    """A message, or an item of `input`, which may be a call of a tool or its output."""
    if isinstance(item, Mapping) and item.get("type") in {"function_call", "custom_tool_call", "mcp_call"}:
        yield from call_texts(item.get("name"), item.get("arguments", item.get("input")))
    elif isinstance(item, Mapping) and "parts" in item:
        yield from texts_of(item["parts"])
    elif isinstance(item, Mapping) and "content" not in item and "tool_calls" not in item:
        yield from texts_of(item)
    else:
        yield from message_texts(item)


def _is_token_ids(value: Any) -> bool:
    """A prompt may be given as numbers of tokens, of one prompt or of several."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    return isinstance(value, list) and bool(value) and all(isinstance(token, int) for token in value[:8])


def _said(texts: Iterator[str]) -> Said:
    return Said(BETWEEN.join(texts), Coverage.WHOLE)
