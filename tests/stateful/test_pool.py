"""The pool against a dict from page to what a child would note down."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from kvfence.core.admission import admit
from kvfence.core.ids import Role, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import Move
from kvfence.core.pool import Reuse, check_conservation, empty_pool, lease, move
from kvfence.core.rules import FENCED
from support.rooms_values import capacity

PAGES = 6


class PoolAgainstModel(RuleBasedStateMachine):
    """Leases, seals, drains, quarantines and releases in any order."""

    leased = Bundle("leased")
    filling = Bundle("filling")
    sealed = Bundle("sealed")
    draining = Bundle("draining")
    quarantined = Bundle("quarantined")

    @initialize(reuse=st.sampled_from(Reuse))
    def start(self, reuse):
        self.pool = empty_pool(PAGES, reuse)
        self.state = dict.fromkeys(range(PAGES), "free")
        self.epoch = dict.fromkeys(range(PAGES), 0)
        self.room = 0

    def to(self, held, how, name, check=None):
        self.pool = move(self.pool, held, how, check)
        self.state |= dict.fromkeys(held.pages, name)
        return held

    @rule(target=leased, pages=st.integers(1, PAGES), tenant=st.sampled_from("AB"))
    def lease(self, pages, tenant):
        self.room += 1
        admitted = admit(pages * 4, capacity(PAGES), PAGES, gate=Role.DECODE, rules=FENCED)
        free = sum(state == "free" for state in self.state.values())
        if pages > free:
            with pytest.raises(Violation, match="I1"):
                lease(self.pool, admitted, RoomId(self.room), TenantId(tenant), pages)
            pages = free
        self.pool, held = lease(self.pool, admitted, RoomId(self.room), TenantId(tenant), pages)
        assert all(self.state[page] == "free" for page in held.pages)
        assert len(set(held.pages)) == pages
        for page, epoch in zip(held.pages, held.epochs, strict=True):
            self.epoch[page] += 1
            assert epoch == self.epoch[page]
            self.state[page] = "leased"
        return held

    @rule(target=filling, held=consumes(leased))
    def fill(self, held):
        return self.to(held, Move.FILL, "filling")

    @rule(held=consumes(leased))
    def release_leased(self, held):
        self.to(held, Move.RELEASE, "free")

    @rule(target=sealed, held=consumes(filling))
    def seal(self, held):
        return self.to(held, Move.SEAL, "sealed")

    @rule(target=draining, held=consumes(filling))
    def drain(self, held):
        return self.to(held, Move.DRAIN, "draining")

    @rule(held=consumes(draining))
    def quiet(self, held):
        self.to(held, Move.QUIET, "free")

    @rule(held=sealed)
    def share_and_release(self, held):
        self.pool = move(move(self.pool, held, Move.SHARE), held, Move.RELEASE)

    @rule(held=consumes(sealed))
    def release_sealed(self, held):
        self.to(held, Move.RELEASE, "free")
        if held.pages:
            with pytest.raises(Violation):
                move(self.pool, held, Move.RELEASE)

    @rule(target=quarantined, held=consumes(filling))
    def quarantine(self, held):
        return self.to(held, Move.QUARANTINE, "quarantined", Check.DIGEST)

    @rule(held=quarantined, how=st.sampled_from(Move))
    def nothing_leads_out_of_quarantine(self, held, how):
        if held.pages:
            with pytest.raises(Violation):
                move(self.pool, held, how)

    @invariant()
    def the_accounts_agree(self):
        if hasattr(self, "pool"):
            check_conservation(self.pool)
            states = {page: type(state).__name__.lower() for page, state in enumerate(self.pool.states)}
            assert states == self.state
            assert list(self.pool.epochs) == list(self.epoch.values())


TestPool = PoolAgainstModel.TestCase
TestPool.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
