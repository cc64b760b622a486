from dataclasses import replace
from functools import lru_cache

import pytest

from kvfence.cell.retrace import in_words, retraced
from kvfence.core.ids import Role
from kvfence.core.rules import FENCED, LEASE_EXPIRY, NO_DRAIN, PLACEHOLDER, RETIRE_AFTER_FORWARD, natural_wire
from kvfence.errors import UnsupportedError
from kvfence.verify.bound import SMALL
from kvfence.verify.check import check
from kvfence.verify.move import Kind, Move
from kvfence.verify.traces import replayed
from kvfence.verify.world import Setting

CRASH = Move(Kind.CRASH, role=Role.DECODE)


@lru_cache
def found(rules):
    """What the checker finds, in a world no larger than it needs."""
    needs = SMALL.budget._replace(hang_ups=0, duplicates=0)
    *_, last = check(rules, natural_wire(rules), replace(SMALL, budget=needs))
    return last.setting, last.explored.violation.trace


@pytest.mark.parametrize("rules", [PLACEHOLDER, NO_DRAIN, LEASE_EXPIRY], ids=lambda rules: rules.name)
def test_a_trace_of_the_checker_leaks_in_the_running_cell(rules):
    """Real drivers and pages, moved as the trace says: the taint oracle sees the read that the checker foretold."""
    setting, trace = found(rules)
    assert replayed(setting, trace[:-1]).broken is None
    assert retraced(setting, trace[:-1]).foreign_reads == 0
    assert retraced(setting, trace).foreign_reads >= 1


@pytest.mark.parametrize("rules", [NO_DRAIN, LEASE_EXPIRY], ids=lambda rules: rules.name)
def test_the_same_moves_leak_nothing_in_the_fenced_cell(rules):
    """As far as the moves can be made there, the oracle sees nothing."""
    setting, trace = found(rules)
    fenced = replace(setting, rules=FENCED)
    made = trace[: replayed(fenced, trace).stopped_at]
    assert len(made) > 10
    assert retraced(fenced, made).foreign_reads == 0


def test_who_was_never_told_waits_in_the_cell_as_well():
    """Decode still holds the room when nothing is under way."""
    setting, trace = found(RETIRE_AFTER_FORWARD)
    assert retraced(setting, trace).live == ((Role.DECODE, 1),)


def test_a_worker_that_dies_is_not_made_here():
    """The stepped cell has no such move, and says so."""
    with pytest.raises(UnsupportedError, match="crash"):
        retraced(Setting(FENCED, natural_wire(FENCED), SMALL), [CRASH])
    assert "cannot die" in in_words(Setting(FENCED, natural_wire(FENCED), SMALL), [CRASH])
