"""The form that needs no mapping: one JSON object a line, with the bodies as they were sent and received."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import model_of, opened, prompt_of, tenant_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.fields import first, ms_of, name_of, status_of
from kvfence.scan.formats.format import Each, Format
from kvfence.scan.reading.record import Record


def _knows(record: Record) -> bool:
    return isinstance(record.value, Mapping) and all(map(record.value.__contains__, ("id", "request", "response")))


def _exchanges(record: Mapping[str, Any], place: Place) -> Iterator[Exchange]:
    sent = opened(record.get("request"))
    answered = answer_of(record.get("response"))
    yield exchange(
        place,
        prompt_of(sent),
        answered,
        id=name_of(record.get("id")),
        tenant=name_of(first(record, "user", "tenant")) or tenant_of(sent),
        session=name_of(record.get("session")),
        model=name_of(record.get("model")) or model_of(sent),
        provider=name_of(record.get("provider")),
        began_ms=ms_of(record.get("created")),
        ended_ms=ms_of(record.get("ended")),
        status=status_of(record.get("status")),
        sent=sent,
    )


PLAIN = Format(
    name="plain",
    title="one JSON object a line: id, created, user, model, status, request, response",
    knows=_knows,
    reader=lambda _: Each(_exchanges),
)
