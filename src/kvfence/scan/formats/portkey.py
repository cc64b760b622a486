"""Portkey: a logs export, JSONL.

Field names: portkey.ai/docs/product/observability/logs-export. Whoever asks for a file chooses its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import opened, prompt_of, tenant_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.fields import count_of, first, inside, ms_of, name_of, status_of
from kvfence.scan.formats.format import Each, Format
from kvfence.scan.reading.record import Record

_OWN = ("ai_org", "ai_model", "req_units", "virtual_key", "is_success")


def _knows(record: Record) -> bool:
    value = record.value
    return isinstance(value, Mapping) and sum(name in value for name in _OWN) > 1


def _exchanges(record: Mapping[str, Any], place: Place) -> Iterator[Exchange]:
    sent = _body(record, "request")
    about = opened(record.get("metadata"))
    began = ms_of(record.get("created_at"))
    took = count_of(record.get("response_time"))
    status = status_of(record.get("response_status_code"))
    succeeded = count_of(record.get("is_success"))  # 1 or 0
    yield exchange(
        place,
        prompt_of(sent),
        answer_of(_body(record, "response")),
        id=name_of(record.get("id")),
        tenant=name_of(first(record, "user") or inside(about, "_user") or record.get("virtual_key")) or tenant_of(sent),
        session=name_of(record.get("trace_id")),
        model=name_of(record.get("ai_model")),
        provider=name_of(record.get("ai_org")),
        began_ms=began,
        ended_ms=None if began is None or took is None else began + took,
        status=status_of(bool(succeeded)) if status is None and succeeded is not None else status,
        prompt_tokens=count_of(record.get("req_units")),
        sent=sent,
        answer_tokens=count_of(record.get("res_units")),
    )


def _body(record: Mapping[str, Any], name: str) -> Any:
    """The body of a request or response: a column of its own, or in an object with headers and a body."""
    if f"{name}.body" in record:
        return opened(record[f"{name}.body"])
    message = opened(record.get(name))
    return opened(message.get("body")) if isinstance(message, Mapping) and "body" in message else message


PORTKEY = Format(name="portkey", title="Portkey: logs export", knows=_knows, reader=lambda _: Each(_exchanges))
