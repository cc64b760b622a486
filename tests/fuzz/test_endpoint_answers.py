"""Changed answers of servers, by the ten thousand and more."""

from __future__ import annotations

import pytest

from support import fuzzing
from support.endpoint_claims import a_changed_answer_invents_nothing


@pytest.mark.fuzz
@pytest.mark.timeout(0)
def test_changed_answers_invent_nothing():
    """No changed answer stops the reading, hangs it, or gives a number that does not stand in it."""
    fuzzing.hold(a_changed_answer_invents_nothing, fuzzing.CASES)
