"""The exit codes, the same for every command and every format. Why: docs/decisions/0003-exit-codes.md."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the program tells the shell."""

    CLEAN = 0
    """All that was asked was looked at, and nothing was found."""
    FOUND = 1
    """Something was found."""
    USAGE = 2
    """Wrong use, or it could not start; one line on standard error says why and what to do."""
    INCONCLUSIVE = 3
    """A control failed, or the evidence does not reach: not clean, not found."""
