"""Helicone: what its export tool writes with bodies, and what its API answers a query for requests.

Field names: docs.helicone.ai, tools/export and rest/request. A body that was too large, or left out, is a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import opened, prompt_of, tenant_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.cuts import stands_for
from kvfence.scan.formats.fields import count_of, first, ms_of, name_of, status_of
from kvfence.scan.formats.format import Answered, Each, Format
from kvfence.scan.reading.record import Record


def _knows(record: Record) -> bool:
    value = record.value
    return isinstance(value, Mapping) and "request_created_at" in value and "request_id" in value


def _exchanges(record: Mapping[str, Any], place: Place) -> Iterator[Exchange]:
    sent = opened(record.get("request_body"))
    received = opened(record.get("response_body"))
    note = stands_for(received)
    yield exchange(
        place,
        stands_for(sent) or prompt_of(sent),
        Answered(said=note) if note else answer_of(received),
        id=name_of(record.get("request_id")),
        tenant=name_of(record.get("request_user_id")) or tenant_of(sent),
        session=_session(record),
        model=name_of(first(record, "response_model", "request_model", "model_override")),
        provider=name_of(record.get("provider")),
        began_ms=ms_of(record.get("request_created_at")),
        ended_ms=ms_of(record.get("response_created_at")),
        status=status_of(record.get("response_status")),
        prompt_tokens=count_of(record.get("prompt_tokens")),
        sent=sent,
        answer_tokens=count_of(record.get("completion_tokens")),
    )


def _session(record: Mapping[str, Any]) -> str | None:
    about = opened(record.get("request_properties"))
    return name_of(about.get("Helicone-Session-Id")) if isinstance(about, Mapping) else None


HELICONE = Format(
    name="helicone", title="Helicone: @helicone/export with bodies", knows=_knows, reader=lambda _: Each(_exchanges)
)
