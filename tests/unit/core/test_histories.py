"""The historical rules do what was seen in the field; each test fails if the fault does not show."""

import pytest

from kvfence.core import events as on
from kvfence.core.handoff import state_of
from kvfence.core.ids import Role, RoomId
from kvfence.core.prefill_side import Held
from kvfence.core.rules import (
    FENCED,
    LEASE_EXPIRY,
    NAMED,
    NO_DRAIN,
    PLACEHOLDER,
    RETIRE_AFTER_FORWARD,
    Layer,
    Wire,
    natural_wire,
    only,
)
from support.rooms import RoomWorld

ROUTER_TO_PREFILL, ROUTER_TO_DECODE = (Role.ROUTER, Role.PREFILL), (Role.ROUTER, Role.DECODE)
DECODE_TO_PREFILL, PREFILL_TO_DECODE = (Role.DECODE, Role.PREFILL), (Role.PREFILL, Role.DECODE)


def ask_and_prefill(world, room, tenant, until):
    """Everything but messages from prefill to decode moves, until something is so."""
    world.ask(room, tenant, 4)
    for _ in range(20):
        if until():
            return
        for pair in (ROUTER_TO_PREFILL, ROUTER_TO_DECODE, DECODE_TO_PREFILL):
            world.deliver(*pair)
        world.report(Role.PREFILL)
    raise AssertionError("prefill came to nothing")


def incident(rules):
    """A prompt longer than prefill's pool and shorter than decode's, after another tenant's."""
    world = RoomWorld(rules, prefill_pages=5, decode_pages=12)
    world.ask(1, "A", 4)
    world.run()
    world.ask(2, "B", 8)
    world.run()
    return world, world.ends[2][0]


def late_write(rules):
    """One-sided wire: A hangs up while its write is in flight; it lands after B's own, in B's pages."""
    world = RoomWorld(rules, prefill_pages=12, decode_pages=12, hold_writes=True)
    world.ask(1, "A", 4)
    world.run()
    world.hang_up(1)
    world.run()
    held = world.in_flight[:]
    world.in_flight.clear()
    world.ask(2, "B", 4)
    world.run()
    world.land()
    world.in_flight += held
    world.hold_writes = False
    world.land()
    world.run()
    return world, world.ends[2][0]


def overtaken_message(rules):
    """Two-sided wire: A's pages come over another connection, after B's own and before B's manifest."""
    world = RoomWorld(rules, Wire.TWO_SIDED, prefill_pages=12, decode_pages=12)
    channel = world.channels[PREFILL_TO_DECODE]
    ask_and_prefill(world, 1, "A", until=lambda: channel)
    late = channel.popleft()
    world.hang_up(1)
    world.run()
    ask_and_prefill(world, 2, "B", until=lambda: any(isinstance(event, on.ManifestReceived) for event in channel))
    channel.insert(1, late)
    world.run()
    return world, world.ends[2][0]


def expired_pull(rules):
    """Pull wire: B's manifest is slow; its lease runs out, and A's prompt goes into the pages that B then reads."""
    world = RoomWorld(rules, Wire.PULL, prefill_pages=5, decode_pages=12)
    channel = world.channels[PREFILL_TO_DECODE]
    ask_and_prefill(world, 1, "B", until=lambda: channel)
    late = channel.popleft()
    world.expire(Role.PREFILL)
    ask_and_prefill(world, 2, "A", until=lambda: isinstance(state_of(world.workers[Role.PREFILL], RoomId(2)), Held))
    channel.appendleft(late)
    world.run()
    return world, world.ends[1][0]


def test_placeholder_reads_another_tenants_pages_and_answers():
    """The incident: one page sent, eight read."""
    world, end = incident(PLACEHOLDER)
    assert len(world.store.leaks) >= 3
    assert isinstance(end, on.AnswerEnded)


def test_no_drain_lets_a_late_write_into_the_next_tenants_pages():
    """sgl-project/sglang#24527, in small."""
    world, end = late_write(NO_DRAIN)
    assert world.store.leaks
    assert isinstance(end, on.AnswerEnded)


def test_lease_expiry_answers_from_pages_that_were_given_away():
    """aws-samples/aws-do-eks#84, in small."""
    world, end = expired_pull(LEASE_EXPIRY)
    assert world.store.leaks
    assert isinstance(end, on.AnswerEnded)


def test_retire_after_forward_does_not_leak_but_decode_is_never_told():
    """SGLang 0.5.20: the client is refused; decode's pages are held until a time-out."""
    world, end = incident(RETIRE_AFTER_FORWARD)
    assert world.store.leaks == []
    assert isinstance(end, on.RequestRefused)
    decode = world.workers[Role.DECODE]
    assert (decode.pool.counts()["filling"], decode.pool.free_pages) == (8, 12 - 9)
    world.run_out()
    assert world.workers[Role.DECODE].pool.free_pages == 12


def test_the_fence_tells_decode_of_the_same_refusal_at_once():
    """Without a time-out, decode holds nothing."""
    world, _ = incident(FENCED)
    assert world.workers[Role.DECODE].pool.free_pages == 12


I1, COUNT, DIGEST, I3, I4, I5 = Layer
STOPPED_BY = {
    incident: {I1, COUNT, DIGEST, I5},
    late_write: {DIGEST, I3},
    overtaken_message: {DIGEST, I3},
    expired_pull: {DIGEST, I4},
}
"""Fault by layer: which one alone keeps the other tenant's text out."""


@pytest.mark.parametrize("layer", Layer)
@pytest.mark.parametrize("fault", STOPPED_BY, ids=lambda fault: fault.__name__)
def test_each_layer_alone_stops_its_faults_and_only_those(fault, layer):
    """Foreign text flows unless one of the layers that are there for this fault is on."""
    world, _ = fault(only(layer))
    assert (world.store.leaks == []) is (layer in STOPPED_BY[fault])


@pytest.mark.parametrize("fault", STOPPED_BY, ids=lambda fault: fault.__name__)
def test_no_layer_no_fence(fault):
    """With all layers off each fault leaks, and the client gets its answer as if nothing were wrong."""
    world, end = fault(only())
    assert world.store.leaks
    assert isinstance(end, on.AnswerEnded)


@pytest.mark.parametrize("fault", STOPPED_BY, ids=lambda fault: fault.__name__)
def test_fenced_lets_nothing_foreign_and_nothing_wrong_through(fault):
    """The same steps with every layer on: a right answer, or none."""
    world, _ = fault(FENCED)
    assert (world.store.leaks, world.store.wrong) == ([], [])


def test_clean_pages_alone_answer_wrongly_but_with_nobodys_text():
    """I5 alone: the slots behind the filled length are not read; that they should have been there, it cannot know."""
    world, end = incident(only(I5))
    assert world.store.leaks == []
    assert world.store.wrong
    assert isinstance(end, on.AnswerEnded)


@pytest.mark.parametrize("layer", [I1, COUNT, DIGEST])
def test_what_stops_the_incident_otherwise_gives_no_wrong_answer_either(layer):
    """I1 refuses, I2 ends the request with an error: no text in either case (I8)."""
    world, end = incident(only(layer))
    assert world.store.wrong == []
    assert isinstance(end, on.RequestRefused if layer is I1 else on.RequestFaulted)


def test_every_named_rule_set_can_be_served_on_its_wire():
    """Names are unique and each has the wire on which it was seen."""
    assert {rules.name: natural_wire(rules) for rules in NAMED.values()} == {
        "fenced": Wire.PUSH,
        "placeholder": Wire.PUSH,
        "retire-after-forward": Wire.PUSH,
        "truncate": Wire.PUSH,
        "no-drain": Wire.PUSH,
        "drain-timeout": Wire.PUSH,
        "stale-ack": Wire.PUSH,
        "lease-expiry": Wire.PULL,
        "reused-reference": Wire.PULL,
        "forged-reference": Wire.PULL,
        "client-bootstrap": Wire.PUSH,
    }
