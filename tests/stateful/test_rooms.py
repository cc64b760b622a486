"""Whole rooms under every order of messages, reports, late writes, early timers and hang-ups."""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kvfence.core import events as on
from kvfence.core.ids import Role
from kvfence.core.leasing import forget_prefixes
from kvfence.core.pool import Reuse, check_conservation
from kvfence.core.rules import FENCED, Wire
from support.rooms import PAGE, STEPS, RoomWorld

PAIRS = [(a, b) for a in Role for b in Role if a is not b]


class FencedRooms(RuleBasedStateMachine):
    """Two tenants, several rooms, small pools: under `fenced` nothing foreign is read, and everything ends."""

    @initialize(
        kind=st.sampled_from(Wire),
        reuse=st.sampled_from(Reuse),
        prefill=st.integers(2, 8),
        decode=st.integers(4, 12),
        open_router=st.booleans(),
    )
    def world(self, kind, reuse, prefill, decode, open_router):
        self.made = RoomWorld(FENCED, kind, prefill_pages=prefill, decode_pages=decode, reuse=reuse, hold_writes=True)
        if open_router:
            self.made.router = replace(self.made.router, advertised_tokens=10**6)
        self.hung_up = set()

    @rule(tenant=st.sampled_from("AB"), pages=st.integers(1, 9), new=st.integers(1, 2 * PAGE))
    def ask(self, tenant, pages, new):
        self.made.ask(len(self.made.tenants) + 1, tenant, pages, new)

    @rule(pair=st.sampled_from(PAIRS))
    def deliver(self, pair):
        self.made.deliver(*pair)

    @rule(role=st.sampled_from(list(STEPS)), at=st.integers(0, 5))
    def report(self, role, at):
        self.made.report(role, at)

    @rule(at=st.integers(0, 5))
    def land(self, at):
        self.made.land(at)

    @rule(role=st.sampled_from(list(STEPS)), at=st.integers(0, 5))
    def expire(self, role, at):
        self.made.expire(role, at)

    @rule(at=st.integers(0, 7))
    def hang_up(self, at):
        if self.made.tenants:
            room = at % len(self.made.tenants) + 1
            self.hung_up.add(room)
            self.made.hang_up(room)

    @invariant()
    def nothing_foreign_and_nothing_wrong_is_read(self):
        if hasattr(self, "made"):
            assert self.made.leaks == []
            assert self.made.wrong == []

    @invariant()
    def pages_are_conserved(self):
        if hasattr(self, "made"):
            for role in STEPS:
                check_conservation(self.made.workers[role].pool)

    def teardown(self):
        """Whatever happened: let it run to the end, and every request has one end and every page is free."""
        if not hasattr(self, "made"):
            return
        world = self.made
        world.hold_writes = False
        world.run()
        while any(world.timers.values()):
            for role in STEPS:
                while world.expire(role):
                    world.run()
        assert world.leaks == []
        for room in world.tenants:
            ends = world.ends.get(room, [])
            assert len(ends) == 1 or (room in self.hung_up and len(ends) <= 1), (room, ends)
        for role in STEPS:
            worker = forget_prefixes(world.workers[role])
            counts = worker.pool.counts()
            assert len(worker.rooms) == 0
            assert counts["free"] + counts["quarantined"] == len(worker.pool.states)
            assert not counts["quarantined"] or world.checks
        assert (
            not any(isinstance(end, on.RequestFaulted) for ends in world.ends.values() for end in ends) or world.checks
        )


TestFencedRooms = FencedRooms.TestCase
TestFencedRooms.settings = settings(max_examples=150, stateful_step_count=60, deadline=None)
