"""Changed lines of logs, by the million."""

from __future__ import annotations

import pytest

from support import fuzzing
from support.log_claims import a_changed_line_invents_nothing


@pytest.mark.fuzz
@pytest.mark.timeout(0)
def test_changed_lines_invent_nothing():
    """No changed line stops the reading, hangs it, or gives a number that does not stand in it."""
    fuzzing.hold(a_changed_line_invents_nothing, fuzzing.CASES)
