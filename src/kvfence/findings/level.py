"""How loud a finding is to a pipeline: severities in the three levels that SARIF and compilers know."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from kvfence.findings.finding import Severity


class Level(StrEnum):
    """From the loudest to the quietest."""

    ERROR = "error"
    """Critical and high: other customers' text may be read, or everybody believes in a check that does not run."""
    WARNING = "warning"
    """Medium: a promise that does not hold, or a layer that is missing."""
    NOTE = "note"
    """Low and info: callers get an error where an answer was promised."""


_LOUDEST_FIRST = tuple(Level)


def level_of(severity: Severity) -> Level:
    """The level of a severity."""
    match severity:
        case Severity.CRITICAL | Severity.HIGH:
            return Level.ERROR
        case Severity.MEDIUM:
            return Level.WARNING
        case Severity.LOW | Severity.INFO:
            return Level.NOTE
        case _:
            assert_never(severity)


def reaches(severity: Severity, threshold: Level) -> bool:
    """Whether a finding of that severity is at least as loud as the threshold."""
    return _LOUDEST_FIRST.index(level_of(severity)) <= _LOUDEST_FIRST.index(threshold)
