"""The one door where a peer's bytes become events."""

import json
from dataclasses import fields

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kvfence.core import events as on
from kvfence.core import wire
from kvfence.core.events import Event
from kvfence.core.ids import RoomId
from kvfence.core.tenant import PUBLIC, SEVERAL
from support.rooms_strategies import MESSAGES_OF_ALL_KINDS, events_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def taken(data):
    """The event, or None; any other exception than a WireError is the test's failure."""
    try:
        return wire.decode(data)
    except wire.WireError:
        return None


@pytest.mark.parametrize("kind", wire.MESSAGES.values(), ids=lambda kind: kind.__name__)
def test_every_message_comes_out_as_it_went_in(kind):
    """Whatever an event of this kind holds, its bytes are that event again, and the same bytes again."""

    @settings(max_examples=40, deadline=None)
    @given(events_of(kind))
    def round_trip(event):
        data = wire.encode(event)
        assert wire.decode(data) == event
        assert wire.encode(wire.decode(data)) == data

    round_trip()


@settings(max_examples=300, deadline=None)
@given(MESSAGES_OF_ALL_KINDS, st.data())
def test_changed_bytes_are_an_event_or_a_wire_error(event, data):
    """A few bytes replaced, dropped or put in anywhere: never half an event, never another exception."""
    changed = bytearray(wire.encode(event))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(len(changed) - 1, 0)))
        changed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    came = taken(bytes(changed))
    assert came is None or wire.decode(wire.encode(came)) == came


def places(body, way=()):
    """Every place in a JSON value."""
    yield way
    for key in body if isinstance(body, dict) else ():
        yield from places(body[key], (*way, key))


@settings(max_examples=300, deadline=None)
@given(MESSAGES_OF_ALL_KINDS, JSON, st.data())
def test_a_message_with_any_other_value_anywhere_is_an_event_or_a_wire_error(event, value, data):
    """The bytes are JSON still; one value in them is something else."""
    body = {"top": json.loads(wire.encode(event))}
    way = data.draw(st.sampled_from([place for place in places(body) if place]))
    at = body
    for key in way[:-1]:
        at = at[key]
    at[way[-1]] = value
    came = taken(json.dumps(body["top"]).encode())
    assert came is None or wire.decode(wire.encode(came)) == came


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
@example(b"[" * 100_000)
@example(b"1" * 5_000)
@example(b'{"kind": ["abort"], "room": 1}')
@example(b'["kind"]')
def test_bytes_of_anybody_are_no_message(data):
    """What was never encoded here is a WireError."""
    assert taken(data) is None


def without(name):
    body = json.loads(wire.encode(on.ReservationReceived(room=RoomId(1), leases=wire._leases(LEASES))))
    del body[name]
    return json.dumps(body).encode()


LEASES = {"room": 1, "tenant": "A", "pages": "AQAAAAAAAAA=", "epochs": "AQAAAAAAAAA="}
REQUEST = {"kind": "request-offered", "room": 1, "tenant": "A", "prompt_tokens": 1, "max_new_tokens": 0}
MANIFEST = {"leases": LEASES, "tokens": 1, "page_size": 1, "layout": "x", "digests": None, "cached_tokens": 0}
WRONG = {
    "no kind": without("kind"),
    "no room": without("room"),
    "no leases": without("leases"),
    "a field too many": {**REQUEST, "admitted": True},
    "a field of another message": {**REQUEST, "count": 1},
    "a negative room": {**REQUEST, "room": -1},
    "a room beyond 64 bits": {**REQUEST, "room": 1 << 63},
    "a boolean for a count": {**REQUEST, "prompt_tokens": True},
    "a float for a count": {**REQUEST, "prompt_tokens": 1.0},
    "a prompt of nothing": {**REQUEST, "prompt_tokens": 0},
    "a tenant that means everybody": {**REQUEST, "tenant": PUBLIC},
    "a tenant that means several": {**REQUEST, "tenant": SEVERAL},
    "half a surrogate pair": {**REQUEST, "tenant": "\ud800"},
    "half a prefix key": {**REQUEST, "prefix_keys": "AAAA"},
    "not base64": {**REQUEST, "prefix_keys": "A?=="},
    "fewer epochs than pages": {"kind": "reservation", "room": 1, "leases": {**LEASES, "epochs": ""}},
    "a page below 0": {"kind": "reservation", "room": 1, "leases": {**LEASES, "pages": "//////////8="}},
    "half a page number": {"kind": "reservation", "room": 1, "leases": {**LEASES, "pages": "AQAAAA=="}},
    "leases that are a list": {"kind": "reservation", "room": 1, "leases": []},
    "more tokens than pages": {"kind": "manifest", "room": 1, "manifest": {**MANIFEST, "tokens": 2}},
    "no slots a page": {"kind": "manifest", "room": 1, "manifest": {**MANIFEST, "page_size": 0}},
    "more digests than pages": {"kind": "manifest", "room": 1, "manifest": {**MANIFEST, "digests": "A" * 43 + "="}},
    "a check that nobody knows": {"kind": "faulted", "room": 1, "check": "I99", "message": ""},
    "a report, not a message": {"kind": "PromptComputed", "room": 1},
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG)
def test_each_of_these_is_refused(data):
    """One fault each, in bytes that are well formed otherwise."""
    with pytest.raises(wire.WireError):
        wire.decode(data if isinstance(data, bytes) else json.dumps(data).encode())


def test_the_messages_with_faults_are_right_but_for_them():
    """What the cases above are made from is accepted."""
    for body in (
        {**REQUEST, "prefix_keys": ""},
        {"kind": "reservation", "room": 1, "leases": LEASES},
        {"kind": "manifest", "room": 1, "manifest": MANIFEST},
        {"kind": "faulted", "room": 1, "check": "I3", "message": ""},
    ):
        assert wire.decode(json.dumps(body).encode())


def test_every_event_is_a_message_or_a_report_and_every_field_can_be_read():
    """No kind is half in the tables."""
    reports = {
        on.ClientAsked,
        on.PromptComputed,
        on.PagesDigested,
        on.WritesLanded,
        on.PagesPulled,
        on.LeaseExpired,
        on.HandoffTimedOut,
        on.WorkerLost,
    }
    kinds = {kind for kind in vars(on).values() if isinstance(kind, type) and issubclass(kind, Event)} - {Event}
    assert set(wire.MESSAGES.values()) == kinds - reports
    assert {field.name for kind in wire.MESSAGES.values() for field in fields(kind)} == set(wire._FIELDS)
