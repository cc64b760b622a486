"""The historical rules do what was seen in the field; each test fails if the fault does not show."""

import pytest

from kvfence.core import events as on
from kvfence.core.ids import Role
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


def incident(rules):
    world = RoomWorld(rules, prefill_pages=5, decode_pages=12)
    world.ask(1, "A", 4)
    world.run()
    world.ask(2, "B", 8)
    world.run()
    return world


def late_write(rules, kind=Wire.PUSH):
    world = RoomWorld(rules, kind, prefill_pages=12, decode_pages=12, hold_writes=True)
    world.ask(1, "A", 4)
    world.run()
    world.hang_up(1)
    world.run()
    held = world.in_flight[:]
    world.in_flight.clear()
    world.ask(2, "B", 4)
    world.run()
    world.land()
    world.in_flight += held  # A's write lands after B's own
    world.hold_writes = False
    world.land()
    world.run()
    return world


def expired_pull(rules):
    world = RoomWorld(rules, Wire.PULL, prefill_pages=5, decode_pages=12)
    world.ask(1, "B", 4)
    for _ in range(4):
        for pair in ((Role.ROUTER, Role.PREFILL), (Role.ROUTER, Role.DECODE), (Role.DECODE, Role.PREFILL)):
            world.deliver(*pair)
        world.report(Role.PREFILL)
    late = world.channels[Role.PREFILL, Role.DECODE].popleft()
    world.expire(Role.PREFILL)
    world.ask(2, "A", 4)
    while world.deliver(Role.ROUTER, Role.PREFILL) or world.deliver(Role.ROUTER, Role.DECODE):
        pass
    while world.deliver(Role.DECODE, Role.PREFILL) or world.report(Role.PREFILL):
        pass
    world.channels[Role.PREFILL, Role.DECODE].appendleft(late)
    world.run()
    return world


def test_placeholder_reads_another_tenants_pages_and_answers():
    """The incident: one page sent, eight read."""
    world = incident(PLACEHOLDER)
    assert world.store.leaks
    assert isinstance(world.ends[2][0], on.AnswerEnded)


def test_no_drain_lets_a_late_write_into_the_next_tenants_pages():
    """sgl-project/sglang#24527, in small."""
    assert late_write(NO_DRAIN).store.leaks


def test_lease_expiry_answers_from_pages_that_were_given_away():
    """aws-samples/aws-do-eks#84, in small."""
    assert expired_pull(LEASE_EXPIRY).store.leaks


def test_retire_after_forward_does_not_leak_but_decode_is_never_told():
    """SGLang 0.5.20: the client is refused; decode's pages wait for a time-out."""
    world = incident(RETIRE_AFTER_FORWARD)
    assert world.store.leaks == []
    assert isinstance(world.ends[2][0], on.RequestRefused)
    assert world.workers[Role.DECODE].pool.counts()["filling"] == 8


@pytest.mark.parametrize("scenario", [incident, late_write, expired_pull])
def test_fenced_stops_each_of_them(scenario):
    """The same steps with every layer on: nothing foreign is read."""
    assert scenario(FENCED).store.leaks == []


@pytest.mark.parametrize("kind", [Wire.PUSH, Wire.TWO_SIDED])
def test_the_writer_fence_alone_stops_the_late_write_on_wires_that_can_and_cannot_refuse(kind):
    """I3 drains where a write cannot be refused, and drops it by its epoch where it can."""
    assert late_write(only(Layer.WRITER_FENCE), kind).store.leaks == []


@pytest.mark.parametrize("layer", [Layer.ADMISSION, Layer.COUNT, Layer.DIGEST, Layer.CLEAN_PAGES])
def test_these_layers_alone_stop_the_incident(layer):
    """I1, either half of I2, and I5."""
    assert incident(only(layer)).store.leaks == []


@pytest.mark.parametrize("layer", [Layer.WRITER_FENCE, Layer.READER_FENCE])
def test_these_layers_alone_do_not(layer):
    """I3 and I4 are about other faults."""
    assert incident(only(layer)).store.leaks


@pytest.mark.parametrize("layer", [Layer.READER_FENCE, Layer.DIGEST])
def test_these_layers_alone_stop_the_expired_pull(layer):
    """I4, and the digest of what was read."""
    assert expired_pull(only(layer)).store.leaks == []


def test_every_named_rule_set_can_be_served_on_its_wire():
    """Names are unique and each has the wire on which it was seen."""
    assert {rules.name: natural_wire(rules) for rules in NAMED.values()} == {
        "fenced": Wire.PUSH,
        "placeholder": Wire.PUSH,
        "retire-after-forward": Wire.PUSH,
        "no-drain": Wire.PUSH,
        "lease-expiry": Wire.PULL,
    }
