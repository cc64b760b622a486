"""Whole rooms under every order of messages, reports, late writes, early timers, hang-ups and a lost worker."""

import random
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kvfence.core.pool import Reuse
from kvfence.core.rules import FENCED, LEASE_EXPIRY, NO_DRAIN, PLACEHOLDER, RETIRE_AFTER_FORWARD, Wire
from support import fuzzing
from support.rooms import PAIRS, STEPS, RoomWorld
from support.rooms_claims import holds_at_the_end, holds_now, long_run
from support.rooms_values import PAGE

ROLES = st.sampled_from(list(STEPS))


class FencedRooms(RuleBasedStateMachine):
    """Two tenants, several rooms, small pools: under `fenced` nothing foreign is read, and everything ends."""

    @initialize(
        kind=st.sampled_from(Wire),
        reuse=st.sampled_from(Reuse),
        prefill=st.integers(2, 8),
        decode=st.integers(4, 12),
        open_router=st.booleans(),
        mortal=st.booleans(),
    )
    def world(self, *, kind, reuse, prefill, decode, open_router, mortal):
        self.made = RoomWorld(
            FENCED,
            kind,
            prefill_pages=prefill,
            decode_pages=decode,
            reuse=reuse,
            hold_writes=True,
            hold_reads=True,
        )
        if open_router:
            self.made.router = replace(self.made.router, advertised_tokens=10**6)
        self.mortal = mortal
        self.hung_up = set()

    @rule(
        tenant=st.sampled_from("AB"),
        pages=st.integers(1, 9),
        new=st.integers(1, 2 * PAGE),
        story=st.sampled_from((None, "told by both")),
    )
    def ask(self, tenant, pages, new, story):
        self.made.ask(len(self.made.asked) + 1, tenant, pages, new, story)

    @rule(pair=st.sampled_from(PAIRS))
    def deliver(self, pair):
        self.made.deliver(*pair)

    @rule(pair=st.sampled_from(PAIRS), at=st.integers(0, 20))
    def deliver_again(self, pair, at):
        self.made.deliver_again(*pair, at)

    @rule()
    def deliver_everything(self):
        for pair in PAIRS:
            while self.made.deliver(*pair):
                pass

    @rule(role=ROLES, at=st.integers(0, 5))
    def report(self, role, at):
        self.made.report(role, at)

    @rule(at=st.integers(0, 5))
    def land(self, at):
        self.made.land(at)

    @rule(at=st.integers(0, 5))
    def end_read(self, at):
        self.made.end_read(at)

    @rule(role=ROLES, at=st.integers(0, 5))
    def expire(self, role, at):
        self.made.expire(role, at)

    @rule(at=st.integers(0, 7))
    def hang_up(self, at):
        if self.made.asked:
            room = at % len(self.made.asked) + 1
            self.hung_up.add(room)
            self.made.hang_up(room)

    @precondition(lambda self: self.mortal and len(self.made.asked) > 2)
    @rule(role=ROLES)
    def lose_worker(self, role):
        self.mortal = False
        self.made.lose(role)

    @invariant()
    def nothing_foreign_is_read_and_pages_are_conserved(self):
        if hasattr(self, "made"):
            holds_now(self.made)

    def teardown(self):
        """Every request has one end and every page is free."""
        if hasattr(self, "made"):
            holds_at_the_end(self.made, self.hung_up)


TestFencedRooms = FencedRooms.TestCase
TestFencedRooms.settings = settings(max_examples=200, stateful_step_count=50, deadline=None)


@pytest.mark.parametrize(
    ("rules", "kind"),
    [
        *((PLACEHOLDER, kind) for kind in Wire),
        (NO_DRAIN, Wire.PUSH),  # over one ordered connection, a two-sided write cannot come too late
        (LEASE_EXPIRY, Wire.PULL),
    ],
    ids=lambda value: getattr(value, "name", str(value)).lower(),
)
def test_the_same_world_without_its_layers_leaks(rules, kind):
    """The oracle and the orders can find something: random orders of the same moves read foreign text."""
    found = 0
    for seed in range(200):
        rng = random.Random(seed)
        world = RoomWorld(rules, kind, prefill_pages=4, decode_pages=8, hold_writes=True, hold_reads=True)
        for room in range(1, 7):
            world.ask(room, rng.choice("AB"), rng.randrange(1, 6))
            for _ in range(rng.randrange(25)):
                world.at_random(rng)
        world.run_out()
        found += bool(world.store.leaks)
    assert found >= 1


@pytest.mark.slow
def test_long_runs_of_fenced_rooms_read_nothing_foreign():
    """The same claims over longer runs and more of them than can be drawn and shrunk in the time."""
    fuzzing.hold(long_run, 600)


@pytest.mark.parametrize(
    "rules", [PLACEHOLDER, NO_DRAIN, LEASE_EXPIRY, RETIRE_AFTER_FORWARD], ids=lambda rules: rules.name
)
def test_long_runs_can_fail(rules):
    """Of those runs one fails within some hundreds, where the rules are those of the field."""
    with pytest.raises(AssertionError):
        fuzzing.hold(lambda chance: long_run(chance, rules), 600)
