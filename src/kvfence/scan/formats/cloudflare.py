"""Cloudflare AI Gateway: Logpush events, whose bodies are encrypted, and logs as the API lists them, without bodies.

Field names: developers.cloudflare.com, Logpush dataset ai_gateway_events; API reference, AI Gateway, list logs.
A body that was decrypted and put back is read as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import opened, prompt_of, tenant_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.cuts import stands_for
from kvfence.scan.formats.fields import count_of, first, inside, ms_of, name_of, status_of
from kvfence.scan.formats.format import Answered, Each, Format
from kvfence.scan.reading.record import Record

_PUSHED = ("Gateway", "Provider", "StatusCode")
_PUSHED_WITH_BODIES = ("Gateway", "RequestBody")
_LISTED = ("tokens_in", "tokens_out", "created_at", "provider")
_USERS = ("user", "user_id", "tenant", "team")
"""Of metadata that the customer attaches; the names are their own, these are what the documentation shows."""


def _knows(record: Record) -> bool:
    value = record.value
    if not isinstance(value, Mapping):
        return False
    return any(all(map(value.__contains__, names)) for names in (_PUSHED, _PUSHED_WITH_BODIES, _LISTED))


def _exchanges(record: Mapping[str, Any], place: Place) -> Iterator[Exchange]:
    sent = opened(first(record, "RequestBody", "request", "request_body"))
    received = opened(first(record, "ResponseBody", "response", "response_body"))
    secret = stands_for(received)
    about = opened(first(record, "Metadata", "metadata"))
    began = ms_of(first(record, "Timestamp", "created_at"))
    took = count_of(first(record, "duration")) or count_of(inside(record.get("Metrics"), "durationMs"))
    status = status_of(first(record, "StatusCode", "status_code"))
    if status is None and "success" in record:
        status = status_of(record["success"])
    yield exchange(
        place,
        stands_for(sent) or prompt_of(sent),
        Answered(said=secret) if secret else answer_of(received),
        id=name_of(first(record, "id", "RoutingDecisionID")),
        tenant=next((name for key in _USERS if (name := name_of(inside(about, key)))), None) or tenant_of(sent),
        model=name_of(first(record, "Model", "model", "RequestedModel")),
        provider=name_of(first(record, "Provider", "provider")),
        began_ms=began,
        ended_ms=None if began is None or took is None else began + took,
        status=status,
        prompt_tokens=count_of(first(record, "tokens_in")),
        answer_tokens=count_of(first(record, "tokens_out")),
    )


CLOUDFLARE = Format(
    name="cloudflare",
    title="Cloudflare AI Gateway: Logpush ai_gateway_events, logs of the API",
    knows=_knows,
    reader=lambda _: Each(_exchanges),
)
