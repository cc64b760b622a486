"""OpenTelemetry, OTLP as JSON: spans of calls of models, and the events that have their texts.

Conventions: opentelemetry.io/docs/specs/semconv/gen-ai (status Development), and what instrumentations wrote before it.
Texts are there only where their capture was switched on. Spans that are no call of a model are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.bodies.texts import BETWEEN
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.fields import first, name_of
from kvfence.scan.formats.format import NOTHING, Answered, Each, Format, NotThisError, Said
from kvfence.scan.formats.pending import Half, Pending
from kvfence.scan.formats.spans import Span, logs_in, spans_in
from kvfence.scan.formats.traces import (
    CHOICE,
    DETAILS,
    MESSAGES,
    exchanges_of_span,
    is_gen_ai,
    is_open_inference,
    message_in,
)
from kvfence.scan.reading.record import Record


def _knows(record: Record) -> bool:
    value = record.value
    if not isinstance(value, Mapping):
        return False
    if "resourceSpans" in value:
        return True
    if "resourceLogs" in value:
        return any(log.name == DETAILS for log in logs_in(value, record.place))
    return any(map(is_gen_ai, spans_in(value, record.place)))


def _exchanges(record: Mapping[str, Any], place: Place) -> Iterator[Exchange]:
    for span in spans_in(record, place):
        yield from exchanges_of_span(span)
    for log in logs_in(record, place):
        if log.name == DETAILS:
            yield from exchanges_of_span(log)


def _knows_open_inference(record: Record) -> bool:
    return isinstance(record.value, Mapping) and any(map(is_open_inference, spans_in(record.value, record.place)))


def _knows_events(record: Record) -> bool:
    value = record.value
    return isinstance(value, Mapping) and any(
        log.name in MESSAGES or log.name == CHOICE for log in logs_in(value, record.place)
    )


class _Events:
    """Messages of one span, until its choice comes."""

    def __init__(self) -> None:
        self._pending = Pending()

    def read(self, record: Record) -> Iterator[Exchange]:
        """The exchanges of which a choice is in this record."""
        if isinstance(record.value, str):
            raise NotThisError("not a JSON object")
        for log in logs_in(record.value, record.place):
            name = f"{log.trace}/{log.id}"
            text = BETWEEN.join(message_in(log.attributes))
            if log.name in MESSAGES:
                yield from self._message(name, log, text)
            elif log.name == CHOICE:
                half = self._pending.get(name) or Half(log.place)
                place = log.place if half.is_told else half.place
                half.is_told = True
                answered = Answered(said=Said(text) if text else NOTHING, finish=name_of(_finish(log)))
                yield _exchange(
                    half, place, answered, id=log.id, provider=_provider(log), ended_ms=log.ended_ms, status=200
                )

    def rest(self) -> Iterator[Exchange]:
        """The requests without an answer here."""
        for name, half in self._pending.rest():
            yield from _untold(name, half)

    def _message(self, name: str, log: Span, text: str) -> Iterator[Exchange]:
        half = self._pending.get(name)
        if half is None:
            half = Half(log.place, fields={"began_ms": log.began_ms})
            for given_up, old in self._pending.put(name, half):
                yield from _untold(given_up, old)
        self._pending.grow(half, text)


def _finish(log: Span) -> Any:
    return first(log.attributes, "finish_reason", "gen_ai.finish_reason")


def _untold(name: str, half: Half) -> Iterator[Exchange]:
    if not half.is_told:
        yield _exchange(half, half.place, Answered(), id=name.rpartition("/")[2])


def _exchange(half: Half, place: Place, answered: Answered, **told: Any) -> Exchange:
    began = half.fields.get("began_ms")
    prompt = Said(BETWEEN.join(half.pieces)) if half.pieces else NOTHING
    return exchange(place, prompt, answered, began_ms=began if isinstance(began, int) else None, **told)


def _provider(log: Span) -> str | None:
    return name_of(first(log.attributes, "gen_ai.provider.name", "gen_ai.system"))


OTEL = Format(
    name="otel",
    title="OpenTelemetry GenAI: spans and events, OTLP as JSON",
    knows=_knows,
    reader=lambda _: Each(_exchanges),
)
OTEL_EVENTS = Format(
    name="otel-events",
    title="OpenTelemetry GenAI up to 1.36: an event for each message, OTLP logs as JSON",
    knows=_knows_events,
    reader=lambda _: _Events(),
    is_joined=True,
)
PHOENIX = Format(
    name="phoenix",
    title="Phoenix, OpenInference: spans as its API, its tables or OTLP have them",
    knows=_knows_open_inference,
    reader=lambda _: Each(_exchanges),
)
