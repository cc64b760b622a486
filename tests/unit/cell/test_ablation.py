import random

import pytest

from kvfence.cell.ablation import ALONE, FAULTS, Trial, run_ablation

STOPPED = (False, False)
LEAKED = (True, True)
WRONG_ONLY = (False, True)

EXPECTED = {
    # fault:          none    I1       I2       I3       I4       I5          all
    "placeholder": (LEAKED, STOPPED, STOPPED, LEAKED, LEAKED, WRONG_ONLY, STOPPED),
    "late-write": (LEAKED, LEAKED, LEAKED, STOPPED, LEAKED, LEAKED, STOPPED),
    "expired-pull": (LEAKED, LEAKED, STOPPED, LEAKED, STOPPED, LEAKED, STOPPED),
}
"""(foreign text?, wrong answer?) for each invariant alone: what DESIGN §3 claims, held against runs."""


@pytest.fixture(scope="module", params=[1, 2, 3])
def trials(request: pytest.FixtureRequest) -> dict[tuple[str, str], Trial]:
    return {(trial.fault, trial.only): trial for trial in run_ablation(random.Random(request.param))}


def test_the_table_has_every_fault_with_every_invariant_alone(trials):
    """The ablation runs each of its faults with each of its columns."""
    assert set(trials) == {(fault, name) for fault in FAULTS for name in ALONE}


@pytest.mark.parametrize("fault", EXPECTED)
@pytest.mark.parametrize("column", range(len(ALONE)))
def test_each_invariant_alone_stops_what_it_is_said_to_stop(trials, fault, column):
    """Foreign text and wrong answers stand where the design says, and nowhere else."""
    trial = trials[fault, list(ALONE)[column]]
    assert (trial.leaked, trial.wrong_answer) == EXPECTED[fault][column]


def test_the_oracle_agrees_with_every_answer(trials):
    """An answer holds a foreign secret exactly where the oracle saw foreign slots read."""
    for trial in trials.values():
        for run in trial.tried:
            assert bool(run.secrets) == bool(run.oracle_saw), (trial.fault, trial.only, run.timing)


def test_a_late_write_that_lands_before_the_new_pages_harms_nobody(trials):
    """With every layer off, only a write that lands after B's own pages leaks."""
    by_timing = {run.timing: bool(run.secrets) for run in trials["late-write", "none"].tried}
    assert by_timing == {"before B's pages": False, "before the seal": True, "after the seal": True}


def test_the_digest_alone_catches_a_late_write_only_before_the_seal(trials):
    """I2 looks once, when the room is sealed: a write after that is I3's to stop."""
    statuses = {run.timing: run.status for run in trials["late-write", "I2"].tried}
    assert statuses == {"before B's pages": "200", "before the seal": "500 I2-digest", "after the seal": "200"}
