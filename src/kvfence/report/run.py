"""Which run a report is of: the command and its time, for the formats that ask. No format lives here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import kvfence


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of one command."""

    command: str
    """`audit`, `gate`."""
    at: datetime
    """When it ended; of any time zone."""
    took_s: float
    """From the command's start to the report, by a clock that is not set back."""
    version: str = kvfence.__version__
    again: str = ""
    """The command line that repeats it, without secrets; empty where it was not started by one."""

    @property
    def at_utc(self) -> datetime:
        """The same in UTC, to the second."""
        return self.at.astimezone(UTC).replace(microsecond=0)
