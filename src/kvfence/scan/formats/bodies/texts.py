"""The text in a message's content: plain, in parts, in tool calls and results; decoded, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.reading.decoded import NotJsonError, decoded

BETWEEN = "\n"
"""Between two texts that stand apart in a body."""
_NO_TEXT = frozenset({"image_url", "image", "input_image", "input_audio", "audio", "inlineData", "inline_data"})
"""Kinds of parts that carry no text but a file: base64 is not searched."""
_NO_TEXT_SOURCES = frozenset({"base64", "url", "file"})
_FILES = frozenset({"file", "input_file", "document", "video", "video_url", "audio_url"})
_IN_PART = ("text", "content", "thinking", "reasoning", "refusal", "output", "summary", "input_text", "result")
"""Where the parts of OpenAI's and Anthropic's messages have text."""


def texts_of(content: Any) -> Iterator[str]:
    """The texts of a message's content."""
    if isinstance(content, str):
        if content:
            yield content
    elif isinstance(content, list):
        for part in content:
            yield from texts_of(part)
    elif isinstance(content, Mapping):
        yield from _of_part(content)


def message_texts(message: Any) -> Iterator[str]:
    """The texts of one message of a conversation: reasoning, content, calls of tools."""
    if not isinstance(message, Mapping):
        yield from texts_of(message)
        return
    for name in ("reasoning_content", "reasoning", "content", "refusal"):
        yield from texts_of(message.get(name))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else [message.get("function_call")]:
        function = call.get("function", call) if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            yield from call_texts(function.get("name"), first_of(function, "arguments", "input"))


def call_texts(name: Any, arguments: Any) -> Iterator[str]:
    """A call of a tool as its name and its arguments, decoded where they are JSON: text in JSON meets no plain text."""
    if isinstance(name, str) and name:
        yield name
    if isinstance(arguments, str):
        try:
            value = decoded(arguments) if arguments[:1] in "{[" else arguments
        except NotJsonError:
            value = arguments
        arguments = value
    yield from scalars(arguments)


def scalars(value: Any) -> Iterator[str]:
    """All keys and values of a JSON value that are text or numbers, in their order."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def first_of(record: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that is there."""
    return next((record[name] for name in names if record.get(name) is not None), None)


def has_files(value: Any) -> bool:
    """Whether anything in a body is a file: an image, a recording, a document that is not given as text."""
    if isinstance(value, list):
        return any(map(has_files, value))
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    if isinstance(kind, str) and (kind in _NO_TEXT or kind in _FILES):
        return True
    return any(name in _NO_TEXT or has_files(inner) for name, inner in value.items())


def _of_part(part: Mapping[str, Any]) -> Iterator[str]:
    kind = part.get("type")
    if kind in _NO_TEXT:
        return
    if kind in {"function_call", "tool_use", "tool_call", "custom_tool_call", "mcp_call", "server_tool_use"}:
        yield from call_texts(part.get("name"), first_of(part, "arguments", "input"))
        yield from texts_of(part.get("output"))
        return
    for name in _IN_PART:
        yield from texts_of(part.get(name))
    if "response" in part:  # of a tool, in OpenTelemetry's messages
        yield from scalars(part["response"])
    source = part.get("source")  # Anthropic's documents
    if isinstance(source, Mapping) and source.get("type") not in _NO_TEXT_SOURCES:
        yield from texts_of(first_of(source, "data", "content"))
