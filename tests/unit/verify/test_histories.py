from dataclasses import replace

import pytest

from kvfence.core.ids import Role
from kvfence.core.rules import (
    CLIENT_BOOTSTRAP,
    DRAIN_TIMEOUT,
    FENCED,
    FORGED_REFERENCE,
    LEASE_EXPIRY,
    NAMED,
    NO_DRAIN,
    PLACEHOLDER,
    RETIRE_AFTER_FORWARD,
    REUSED_REFERENCE,
    STALE_ACK,
    TRUNCATE,
    Reference,
    Wire,
)
from kvfence.verify.bound import ONE_PAGE, SMALL, TOO_LONG, TWO_PAGES, Bound, Budget
from kvfence.verify.check import check
from kvfence.verify.explore import explore
from kvfence.verify.move import CHOSEN, Kind, Move
from kvfence.verify.properties import Property
from kvfence.verify.traces import replayed
from kvfence.verify.world import Setting
from support.histories import COMPUTED, found, offer

FAULT_KINDS = CHOSEN - {Kind.ASK, Kind.COME_BACK}
ALONE = Bound(
    name="one request and everything that can befall it",
    budget=Budget(requests=1, hang_ups=1, time_outs=1, duplicates=1, drops=1, crashes=1, faults=2),
    shapes=(ONE_PAGE, TWO_PAGES, TOO_LONG),
)


FOREIGN = Property.FOREIGN_TEXT
FINDS = [
    (PLACEHOLDER, FOREIGN, [], 17),
    (RETIRE_AFTER_FORWARD, Property.TOLD, [], 6),
    (TRUNCATE, FOREIGN, [], 19),
    (NO_DRAIN, FOREIGN, [Kind.TIME_OUT], 17),
    (DRAIN_TIMEOUT, FOREIGN, [Kind.TIME_OUT], 18),
    (STALE_ACK, FOREIGN, [Kind.HANG_UP, Kind.HANG_UP], 26),
    (LEASE_EXPIRY, FOREIGN, [Kind.TIME_OUT], 16),
    (REUSED_REFERENCE, FOREIGN, [Kind.PRESENT], 12),
    (FORGED_REFERENCE, FOREIGN, [Kind.FORGE], 10),
    (CLIENT_BOOTSTRAP, FOREIGN, [Kind.FORGE], 13),
]


@pytest.mark.parametrize(("rules", "promise", "faults", "moves"), FINDS, ids=lambda value: getattr(value, "name", ""))
def test_the_fault_of_each_historical_rule_set_is_found(rules, promise, faults, moves):
    """With no more to go on than the rules, the known fault is found, with no fault that it does not need."""
    _, violation = found(rules)
    assert violation.promise is promise
    assert [move.kind for move in violation.trace if move.kind in FAULT_KINDS] == faults
    assert len(violation.trace) == moves


def test_no_history_is_without_a_case_above():
    """A new name needs its line; the fence has nothing to be found."""
    assert [rules for rules, *_ in FINDS] == [rules for rules in NAMED.values() if rules is not FENCED]


CALLERS = replace(SMALL, budget=Budget(requests=2, duplicates=1, faults=1), decode_pages=2, shapes=(ONE_PAGE,))


@pytest.mark.parametrize("wire", [Wire.PUSH, Wire.PULL])
@pytest.mark.parametrize("reference", [Reference.USED_AGAIN, Reference.MADE_UP])
def test_the_fence_holds_against_callers_who_bring_references(reference, wire):
    """A reference is bound to its room, and nobody knows the digests of what he has not read."""
    setting = Setting(replace(FENCED, reference=reference), wire, CALLERS)
    begun = replayed(setting, (*COMPUTED, Move(Kind.ASK, 2, tenant=1), offer(2, Role.DECODE)))
    seen = explore(begun.worlds[-1], setting)
    assert seen.complete
    assert seen.violation is None


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("wire", Wire)
def test_the_fence_holds_in_every_state(wire):
    """Every interleaving within the bound is seen, and each promise holds in all of them."""
    runs = list(check(FENCED, wire, SMALL))
    assert [run.faults for run in runs] == [0, 1]
    assert all(run.explored.complete and run.explored.violation is None for run in runs)
    assert runs[-1].explored.states > 20_000


@pytest.mark.parametrize("wire", Wire)
def test_one_request_outlives_everything_that_can_befall_it(wire):
    """A worker that dies and comes back, letters that come twice or never: any two of them, at any moment."""
    *_, last = check(FENCED, wire, ALONE)
    assert last.explored.complete
    assert last.explored.violation is None
    assert last.explored.states > 3_000
