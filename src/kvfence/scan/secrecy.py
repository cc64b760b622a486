"""What keeps texts in memory from lying about after a crash."""

from __future__ import annotations

import os


def no_core_dumps() -> None:
    """A crash of this process leaves no image of its memory. Where there are no such limits, nothing is done."""
    if os.name == "posix":
        import resource  # noqa: PLC0415 — not on every system

        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
