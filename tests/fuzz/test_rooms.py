"""Long runs of rooms, by the million."""

from __future__ import annotations

import pytest

from support import fuzzing
from support.rooms_claims import long_run


@pytest.mark.fuzz
@pytest.mark.timeout(0)
def test_long_runs_of_fenced_rooms():
    """However many runs: nothing foreign is read, pages are conserved, every request has one end."""
    fuzzing.hold(long_run, fuzzing.CASES)
