from __future__ import annotations

from support import fuzzing
from support.source_claims import a_changed_tree_has_every_answer


def test_a_changed_tree_has_an_answer_to_every_question():
    """A few hundred of the cases of `make fuzz`."""
    fuzzing.hold(a_changed_tree_has_every_answer, 200)
