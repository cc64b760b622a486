import random
import secrets

import pytest

from kvfence.cell.ablation import incident
from kvfence.core.rules import FENCED, PLACEHOLDER, Layer, only

RUNS = 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "leaks"),
    [(PLACEHOLDER, True), (FENCED, False), (only(Layer.CLEAN_PAGES), False)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_over_twenty_runs_with_fresh_secrets_the_leak_is_where_the_rules_put_it(rules, leaks):
    """B's answer holds a secret of A's in every run under placeholder, in none under fenced or with I5 alone."""
    runs = [incident(rules, "fresh", random.Random(secrets.randbits(64))) for _ in range(RUNS)]
    assert [bool(run.secrets) for run in runs] == [leaks] * RUNS
    assert [bool(run.oracle_saw) for run in runs] == [leaks] * RUNS
