"""Langfuse: exported observations (blob storage, JSONL, CSV, Parquet) and those that the public API lists.

Field names: langfuse.com/docs, blob storage export field reference, `observations_v2/`; the API has them in camelCase.
Observations that are no generation are no request to a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.bodies.free import free_answer_of, free_prompt_of
from kvfence.scan.formats.bodies.sent import opened
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.cuts import with_cuts
from kvfence.scan.formats.fields import count_of, first, inside, ms_of, name_of
from kvfence.scan.formats.format import Each, Format
from kvfence.scan.reading.record import Record


def _knows(record: Record) -> bool:
    value = record.value
    return (
        isinstance(value, Mapping)
        and "type" in value
        and ("trace_id" in value or "traceId" in value)
        and ("provided_model_name" in value or "usage_details" in value or "usageDetails" in value)
    )


def _exchanges(record: Mapping[str, Any], place: Place) -> Iterator[Exchange]:
    if str(record.get("type", "")).upper() != "GENERATION":
        return
    usage = opened(first(record, "usage_details", "usageDetails"))
    usage = dict(usage) if isinstance(usage, list) else usage  # Parquet gives a map as pairs
    answered = free_answer_of(record.get("output"))
    yield exchange(
        place,
        with_cuts(free_prompt_of(record.get("input"))),
        answered.saying(with_cuts(answered.said)),
        id=name_of(record.get("id")),
        tenant=name_of(first(record, "user_id", "userId")),
        session=name_of(first(record, "session_id", "sessionId")),
        model=name_of(first(record, "provided_model_name", "model", "model_id", "modelId")),
        began_ms=ms_of(first(record, "start_time", "startTime")),
        ended_ms=ms_of(first(record, "end_time", "endTime")),
        status=500 if str(record.get("level", "")).upper() == "ERROR" else 200,
        prompt_tokens=count_of(inside(usage, "input")),
        answer_tokens=count_of(inside(usage, "output")),
    )


LANGFUSE = Format(
    name="langfuse", title="Langfuse: exported observations", knows=_knows, reader=lambda _: Each(_exchanges)
)
