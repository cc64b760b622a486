"""LiteLLM: its StandardLoggingPayload (logging callbacks, object stores) and rows of LiteLLM_SpendLogs.

Field names: docs.litellm.ai/docs/proxy/logging_spec; LiteLLM_SpendLogs in schema.prisma of BerriAI/litellm.
Bodies of spend logs are empty unless `store_prompts_in_spend_logs` is set, and cut in the middle from 2,048 characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import opened, prompt_of, tenant_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.cuts import with_cuts
from kvfence.scan.formats.fields import count_of, first, inside, ms_of, name_of, status_of
from kvfence.scan.formats.format import NOTHING, Each, Format
from kvfence.scan.reading.record import Record

_SPEND_LOG = ("request_id", "call_type", "startTime")
_PAYLOAD = ("id", "call_type", "startTime")


def _knows(record: Record) -> bool:
    value = record.value
    return isinstance(value, Mapping) and (
        all(map(value.__contains__, _SPEND_LOG)) or all(map(value.__contains__, _PAYLOAD))
    )


def _exchanges(record: Mapping[str, Any], place: Place) -> Iterator[Exchange]:
    sent = opened(record.get("messages"))
    if not sent:  # an empty object stands for "not stored"; the proxy's own copy of the request may be there
        sent = opened(record.get("proxy_server_request"))
        sent = sent.get("body", sent) if isinstance(sent, Mapping) else sent
    prompt = with_cuts(prompt_of(sent if not isinstance(sent, list) else {"messages": sent})) if sent else NOTHING
    received = opened(record.get("response"))
    answered = answer_of(received or None)
    about = opened(record.get("metadata"))
    failure = first(record, "error_information") or inside(about, "error_information")
    yield exchange(
        place,
        prompt,
        answered.saying(with_cuts(answered.said)),
        id=name_of(first(record, "request_id", "id")),
        tenant=name_of(
            first(record, "end_user", "team_id", "user", "api_key")
            or inside(about, "user_api_key_end_user_id")
            or inside(about, "user_api_key_team_id")
            or inside(about, "user_api_key_hash")
        )
        or tenant_of(sent),
        session=name_of(first(record, "session_id", "trace_id")),
        model=name_of(first(record, "model", "model_group")),
        provider=name_of(first(record, "custom_llm_provider", "api_base")),
        began_ms=ms_of(record.get("startTime")),
        ended_ms=ms_of(record.get("endTime")),
        status=status_of(inside(failure, "error_code"))
        or status_of(first(record, "status"))
        or status_of(inside(about, "status")),
        prompt_tokens=count_of(record.get("prompt_tokens")),
        sent=sent,
        answer_tokens=count_of(record.get("completion_tokens")),
    )


LITELLM = Format(
    name="litellm",
    title="LiteLLM: StandardLoggingPayload, LiteLLM_SpendLogs",
    knows=_knows,
    reader=lambda _: Each(_exchanges),
)
