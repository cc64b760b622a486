from dataclasses import replace

import pytest

from kvfence.core.rules import FENCED, LEASE_EXPIRY, NO_DRAIN, PLACEHOLDER
from kvfence.verify.move import Kind, Move
from kvfence.verify.properties import MEANS, Property
from kvfence.verify.story import steps
from kvfence.verify.traces import as_document, move_of, replayed
from support.histories import found


def test_every_promise_is_explained():
    """Whoever reads a name can read what it promises."""
    assert set(MEANS) == set(Property)


@pytest.mark.parametrize("kind", Kind)
def test_a_move_comes_out_of_its_document_as_it_went_in(kind):
    """Nothing is lost, and what is at its default is not written."""
    move = Move(kind, room=2, at=1)
    assert move_of(as_document(move)) == move
    assert as_document(Move(kind)) == {"kind": kind}


def test_a_found_trace_breaks_the_same_promise_when_it_is_made_again():
    """And every move of it can be told."""
    setting, violation = found(PLACEHOLDER)
    again = replayed(setting, violation.trace)
    assert again.stopped_at is None
    assert (again.broken.promise, again.broken.why) == (violation.promise, violation.why)
    told = list(steps(violation.trace, again.worlds, setting))
    assert [move_of(step.move) for step in told] == list(violation.trace)


@pytest.mark.parametrize("rules", [NO_DRAIN, LEASE_EXPIRY], ids=lambda rules: rules.name)
def test_the_moves_of_a_race_break_nothing_under_the_fence(rules):
    """As far as they can be made there: a write that is still in flight keeps the pages, a stale read is discarded."""
    setting, violation = found(rules)
    again = replayed(replace(setting, rules=FENCED), violation.trace)
    assert again.broken is None
