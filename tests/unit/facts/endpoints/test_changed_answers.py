"""The first few hundred of the cases that `make fuzz` runs by the million."""

from __future__ import annotations

from support import fuzzing
from support.endpoint_claims import a_changed_answer_invents_nothing


def test_changed_answers_invent_nothing():
    """No changed answer stops the reading, hangs it, or gives a number that does not stand in it."""
    fuzzing.hold(a_changed_answer_invents_nothing, 400)
