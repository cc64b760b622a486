"""OpenRouter: metadata of a generation, as GET /generation gives it. It has no text; traces that have are OTLP.

Field names: openrouter.ai/docs/api-reference, get a generation; text is given by /generation/content alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import prompt_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.fields import count_of, first, inside, ms_of, name_of
from kvfence.scan.formats.format import Each, Format
from kvfence.scan.reading.record import Record

_OWN = ("id", "native_tokens_prompt", "provider_name")


def _knows(record: Record) -> bool:
    return isinstance(record.value, Mapping) and all(map(_generation(record.value).__contains__, _OWN))


def _generation(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The generation itself, where the API's whole answer was kept."""
    inner = record.get("data")
    return inner if isinstance(inner, Mapping) else record


def _exchanges(record: Mapping[str, Any], place: Place) -> Iterator[Exchange]:
    record = _generation(record)
    content = record.get("content")  # where both answers of the API were put into one
    began = ms_of(record.get("created_at"))
    took = count_of(record.get("generation_time"))
    yield exchange(
        place,
        prompt_of(first(record, "input") or inside(content, "input")),
        answer_of(first(record, "output") or inside(content, "output")),
        id=name_of(record.get("id")),
        tenant=name_of(first(record, "external_user", "user")),
        session=name_of(record.get("session_id")),
        model=name_of(record.get("model")),
        provider=name_of(record.get("provider_name")),
        began_ms=began,
        ended_ms=None if began is None or took is None else began + took,
        status=499 if record.get("cancelled") is True else 200,
        finish=name_of(first(record, "finish_reason", "native_finish_reason")),
        prompt_tokens=count_of(first(record, "native_tokens_prompt", "tokens_prompt")),
        answer_tokens=count_of(first(record, "native_tokens_completion", "tokens_completion")),
    )


OPENROUTER = Format(
    name="openrouter",
    title="OpenRouter: metadata of generations (its traces are otel)",
    knows=_knows,
    reader=lambda _: Each(_exchanges),
)
