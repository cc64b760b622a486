"""A request's body and its response's in one record, under any of the names that loggers give them.

Also one object with the fields of both, and a stored response alone (it has no prompt). Field names of the bodies: API
references of OpenAI (chat, completions, responses) and Anthropic (messages).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import model_of, opened, prompt_of, tenant_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.cuts import with_cuts
from kvfence.scan.formats.fields import count_of, first, inside, ms_of, name_of, status_of
from kvfence.scan.formats.format import NOTHING, Each, Format
from kvfence.scan.reading.record import Record

_REQUESTS = ("request", "request_body", "requestBody", "req", "body", "payload", "messages", "input", "prompt")
_RESPONSES = (
    "response", "response_body", "responseBody", "resp", "res", "output", "completion", "answer", "choices",
)  # fmt: skip
_OBJECTS = frozenset({"chat.completion", "text_completion", "response"})
_SENT_ALWAYS = ("messages", "prompt", "input")
_SENT = (*_SENT_ALWAYS, "instructions", "system", "tools")
"""What a request has beside what its response has, in an object of both."""
_IDS = ("id", "request_id", "requestId", "trace_id")
_USERS = ("user", "user_id", "userId", "tenant", "tenant_id", "organization", "organization_id", "end_user")
_SESSIONS = ("session", "session_id", "conversation_id", "thread_id")
_BEGAN = ("created", "created_at", "timestamp", "start_time", "time", "ts", "date")
_ENDED = ("ended", "ended_at", "end_time")
_STATUSES = ("status_code", "status", "http_status")


def _knows(record: Record) -> bool:
    value = record.value
    if not isinstance(value, Mapping):
        return False
    return _is_response(value) or (
        any(name in value for name in _REQUESTS) and any(name in value for name in _RESPONSES)
    )


def _is_response(value: Mapping[str, Any]) -> bool:
    """Whether it is a response's body itself."""
    kind = value.get("object")
    return (isinstance(kind, str) and kind in _OBJECTS) or (
        value.get("type") == "message" and value.get("role") == "assistant"
    )


def _exchanges(record: Mapping[str, Any], place: Place) -> Iterator[Exchange]:
    is_one = _is_response(record) or "choices" in record
    sent = opened(first(record, *_REQUESTS))
    if is_one or "messages" in record:  # what a response repeats of its request has names of its own
        has_any = any(record.get(name) for name in _SENT_ALWAYS)
        sent = {name: record[name] for name in _SENT if record.get(name) is not None} if has_any else None
    elif isinstance(sent, list):
        sent = {"messages": sent}
    answered = answer_of(record if is_one else first(record, *_RESPONSES))
    usage = opened(record.get("usage"))
    yield exchange(
        place,
        with_cuts(prompt_of(sent)) if sent else NOTHING,
        answered.saying(with_cuts(answered.said)),
        id=name_of(first(record, *_IDS)),
        tenant=name_of(first(record, *_USERS)) or tenant_of(record) or tenant_of(sent),
        session=name_of(first(record, *_SESSIONS)),
        model=name_of(record.get("model")) or model_of(sent),
        provider=name_of(record.get("provider")),
        began_ms=ms_of(first(record, *_BEGAN)),
        ended_ms=ms_of(first(record, *_ENDED)),
        status=_status(record, answered_well=answered.said != NOTHING),
        prompt_tokens=count_of(inside(usage, "prompt_tokens")) or count_of(inside(usage, "input_tokens")),
        sent=sent,
        answer_tokens=count_of(inside(usage, "completion_tokens")) or count_of(inside(usage, "output_tokens")),
    )


def _status(record: Mapping[str, Any], *, answered_well: bool) -> int | None:
    told = next((status for name in _STATUSES if (status := status_of(record.get(name))) is not None), None)
    return 200 if told is None and _is_response(record) and answered_well else told


PAIR = Format(
    name="pair",
    title="a request's body and its response's in one record: OpenAI, Anthropic",
    knows=_knows,
    reader=lambda _: Each(_exchanges),
)
