"""A log's entry as a JSON object on one line: which field is the message, and which names who printed it.

Known by their fields: docker and CRI through Fluent Bit, Fluentd or Vector (`log`, `message`, `kubernetes`), Loki
(`line`, `labels`), Elasticsearch (`_source`), Google Cloud (`textPayload`, `jsonPayload`), CloudWatch (`message`,
`logStreamName`), Splunk (`result._raw`), journald (`MESSAGE`), OpenTelemetry (`body`); of Python's loggers
python-json-logger (`message`), structlog (`event`), loguru (`record.message`) and others that say `msg`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_MESSAGES: tuple[tuple[str, ...], ...] = (
    *(("log",), ("message",), ("msg",), ("MESSAGE",), ("line",), ("textPayload",), ("event",), ("@message",)),
    *(("jsonPayload", "message"), ("_source", "message"), ("_source", "log"), ("result", "_raw")),
    *(("record", "message"), ("body", "stringValue"), ("body",), ("text",)),
)
_NAMES: tuple[tuple[str, ...], ...] = (
    *(("pod",), ("pod_name",), ("kubernetes", "pod_name"), ("kubernetes", "pod", "name"), ("labels", "pod")),
    *(("_source", "kubernetes", "pod_name"), ("_source", "kubernetes", "pod", "name"), ("stream", "pod")),
    *(("resource", "labels", "pod_name"), ("resource", "k8s.pod.name"), ("container_name",), ("logStreamName",)),
    *(("labels", "instance"), ("host",), ("hostname",), ("host", "name"), ("_HOSTNAME",), ("result", "host")),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What an entry holds, and the name of who printed it if one of its fields says."""

    message: str
    name: str | None


def parse(text: str) -> Entry | None:
    """The entry on this line; None if it is no JSON object, or none with a message that is known."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    message = next((found for path in _MESSAGES if (found := _text_at(fields, path)) is not None), None)
    if message is None:
        return None
    return Entry(message, next((found for path in _NAMES if (found := _text_at(fields, path))), None))


def _text_at(fields: Mapping[str, object], path: Sequence[str]) -> str | None:
    value: object = fields
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    if isinstance(value, str):
        return value
    return _of_bytes(value) if path == ("MESSAGE",) else None


def _of_bytes(value: object) -> str | None:
    """Journald gives a message with colours in it as a list of bytes."""
    if isinstance(value, list) and value and all(isinstance(byte, int) and 0 <= byte < 256 for byte in value):  # noqa: PLR2004 — a byte
        return bytes(value).decode("utf-8", "replace")
    return None
