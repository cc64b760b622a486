"""Spans and log records of OpenTelemetry as they are stored: OTLP as JSON, a console exporter's, a table's rows.

Source: opentelemetry-proto, trace/v1 and logs/v1, and its rules for JSON; a row has its attributes as columns named
`attributes.…`, as Phoenix writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kvfence.scan.exchange import Place
from kvfence.scan.formats.fields import first, inside, ms_of, name_of, status_of

_COLUMN = "attributes."
_ERROR = 2
"""The code of a status in OTLP; 0 is unset, 1 is well."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span, or a record of a log, with its attributes by their dotted names."""

    place: Place
    name: str | None
    id: str | None
    trace: str | None
    began_ms: int | None
    ended_ms: int | None
    status: int | None
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def spans_in(value: Mapping[str, Any], place: Place) -> Iterator[Span]:
    """The spans of a record, each with a place of its own."""
    if isinstance(value.get("resourceSpans"), list):
        for at, (about, raw) in enumerate(_inner(value, "resourceSpans", "scopeSpans", "spans")):
            yield _span(raw, replace(place, offset=place.offset + at), about)
    elif is_row(value) or isinstance(value.get("attributes"), Mapping | list):
        yield _span(value, place, {})


def logs_in(value: Mapping[str, Any], place: Place) -> Iterator[Span]:
    """The records of logs that name an event; the attributes have what their bodies say."""
    for at, (about, raw) in enumerate(_inner(value, "resourceLogs", "scopeLogs", "logRecords")):
        attributes = about | _attributes(raw.get("attributes"))
        body = _plain(raw.get("body"))
        at_ms = ms_of(first(raw, "timeUnixNano", "observedTimeUnixNano"))
        yield Span(
            place=replace(place, offset=place.offset + at),
            name=name_of(first(raw, "eventName")) or name_of(attributes.get("event.name")),
            id=name_of(raw.get("spanId")),
            trace=name_of(raw.get("traceId")),
            began_ms=at_ms,
            ended_ms=at_ms,
            status=None,
            attributes=attributes | (body if isinstance(body, dict) else {"body": body}),
        )


def is_row(value: Mapping[str, Any]) -> bool:
    """Whether it has attributes as columns."""
    return "context.span_id" in value and any(name.startswith(_COLUMN) for name in value)


def leaves_under(attributes: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """The values below a dotted name, in the order of the numbers in their names."""
    names = [name for name in attributes if name == prefix or name.startswith(f"{prefix}.")]
    for name in sorted(names, key=_by_numbers):
        yield from _leaves(attributes[name], name)


def _inner(value: Mapping[str, Any], *names: str) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    resources, scopes, items = names
    for resource in _objects(value.get(resources)):
        about = _attributes(inside(resource, "resource", "attributes"))
        for scope in _objects(resource.get(scopes)):
            for item in _objects(scope.get(items)):
                yield about, item


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            yield item


def _span(raw: Mapping[str, Any], place: Place, about: Mapping[str, Any]) -> Span:
    context = raw["context"] if isinstance(raw.get("context"), Mapping) else raw
    own = {name.removeprefix(_COLUMN): value for name, value in raw.items() if name.startswith(_COLUMN)}
    attributes = dict(about) | own | _attributes(raw.get("attributes"))
    attributes = {name: value for name, value in attributes.items() if value is not None}
    return Span(
        place=place,
        name=name_of(raw.get("name")),
        id=name_of(first(context, "spanId", "span_id", "context.span_id")),
        trace=name_of(first(context, "traceId", "trace_id", "context.trace_id")),
        began_ms=ms_of(first(raw, "startTimeUnixNano", "start_time")),
        ended_ms=ms_of(first(raw, "endTimeUnixNano", "end_time")),
        status=_status(raw, attributes),
        attributes=attributes,
        events=tuple(_events(raw.get("events"))),
    )


def _status(raw: Mapping[str, Any], attributes: Mapping[str, Any]) -> int:
    kind = attributes.get("error.type")  # a status of HTTP where the server said one
    told = status_of(first(attributes, "http.response.status_code")) or (status_of(kind) if kind else None)
    if told is not None:
        return told
    code = first(raw, "status_code") or inside(raw, "status", "code") or inside(raw, "status", "status_code")
    is_error = code == _ERROR or str(code).upper().endswith("ERROR") or kind is not None
    return 500 if is_error else 200


def _events(events: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for event in _objects(events):
        yield name_of(event.get("name")) or "", _attributes(event.get("attributes"))


def _attributes(raw: Any) -> dict[str, Any]:
    """Attributes as OTLP lists them, or as an object, by their dotted names."""
    if isinstance(raw, list):
        return {item["key"]: _plain(item.get("value")) for item in _objects(raw) if isinstance(item.get("key"), str)}
    return dict(_flat(raw, "")) if isinstance(raw, Mapping) else {}


def _flat(value: Mapping[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{before}{key}.")
        elif inner is not None:
            yield f"{before}{key}", inner


def _plain(value: Any) -> Any:
    """A value of OTLP as a plain one."""
    if not isinstance(value, Mapping):
        return value
    match value:
        case {"arrayValue": {"values": list(values)}}:
            return [_plain(inner) for inner in values]
        case {"kvlistValue": {"values": list()}}:
            return _attributes(inside(value, "kvlistValue", "values"))
        case {"intValue": str() | int() as number}:
            return int(number) if _NUMBER.fullmatch(str(number)) else None
        case _:
            return first(value, "stringValue", "doubleValue", "boolValue")


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _leaves(inner, f"{name}.{at}")
    elif value is not None:
        yield name, value


def _by_numbers(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in name.split(".")]
