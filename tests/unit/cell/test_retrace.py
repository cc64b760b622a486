from dataclasses import replace

import pytest

from kvfence.cell.retrace import in_words, retraced
from kvfence.core.ids import Role
from kvfence.core.rules import FENCED, NAMED, RETIRE_AFTER_FORWARD, Layer
from kvfence.errors import UnsupportedError
from kvfence.verify.bound import SMALL
from kvfence.verify.move import Kind, Move
from kvfence.verify.traces import replayed
from kvfence.verify.world import Setting
from support.histories import found

CRASH = Move(Kind.CRASH, role=Role.DECODE)


LEAKING = [rules for rules in NAMED.values() if rules not in (FENCED, RETIRE_AFTER_FORWARD)]
RACES = [rules for rules in LEAKING if rules.has(Layer.ADMISSION)]


@pytest.mark.parametrize("rules", LEAKING, ids=lambda rules: rules.name)
def test_a_trace_of_the_checker_leaks_in_the_running_cell(rules):
    """Real drivers and pages, moved as the trace says: the taint oracle sees the read that the checker foretold."""
    setting, violation = found(rules)
    trace = violation.trace
    assert replayed(setting, trace[:-1]).broken is None
    assert retraced(setting, trace[:-1]).foreign_reads == 0
    assert retraced(setting, trace).foreign_reads >= 1


@pytest.mark.parametrize("rules", RACES, ids=lambda rules: rules.name)
def test_the_same_moves_leak_nothing_in_the_fenced_cell(rules):
    """As far as the moves can be made there, the oracle sees nothing."""
    setting, violation = found(rules)
    trace = violation.trace
    fenced = replace(setting, rules=FENCED)
    made = trace[: replayed(fenced, trace).stopped_at]
    assert len(made) > 5
    assert retraced(fenced, made).foreign_reads == 0


def test_who_was_never_told_waits_in_the_cell_as_well():
    """Decode still holds the room when nothing is under way."""
    setting, violation = found(RETIRE_AFTER_FORWARD)
    assert retraced(setting, violation.trace).live == ((Role.DECODE, 1),)


def test_a_worker_that_dies_is_not_made_here():
    """The stepped cell has no such move, and says so."""
    with pytest.raises(UnsupportedError, match="crash"):
        retraced(Setting(FENCED, FENCED.wire, SMALL), [CRASH])
    assert "cannot die" in in_words(Setting(FENCED, FENCED.wire, SMALL), [CRASH])
