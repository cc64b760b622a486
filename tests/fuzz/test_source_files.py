"""Changed source files, by the ten thousand: a case parses a whole tree, so a million would take days."""

from __future__ import annotations

import pytest

from support import fuzzing
from support.source_claims import a_changed_tree_has_every_answer

CASES_MAX = 10_000


@pytest.mark.fuzz
@pytest.mark.timeout(0)
def test_a_changed_tree_has_an_answer_to_every_question():
    """No changed tree stops the reading or leaves a question without an answer."""
    fuzzing.hold(a_changed_tree_has_every_answer, min(fuzzing.CASES, CASES_MAX))
