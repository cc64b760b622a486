"""Three verdicts, since three are true. "Could not look" is never "clean".

Found beats unknown, unknown beats clean; a check that did not run is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What a check says of what it was asked about."""

    CLEAN = "clean"
    """All of it was looked at, and nothing was found."""
    FOUND = "found"
    UNKNOWN = "unknown"
    """Some of it could not be looked at."""


def combined(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict over several checks; of none at all, nothing is known."""
    seen = set(verdicts)
    if Verdict.FOUND in seen:
        return Verdict.FOUND
    return Verdict.CLEAN if seen == {Verdict.CLEAN} else Verdict.UNKNOWN
