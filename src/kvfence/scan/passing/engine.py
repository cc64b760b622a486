"""Where units of work are run: one engine a file, and each gives the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from kvfence.scan.passing.scan_pass import Pass
from kvfence.scan.passing.units import Unit
from kvfence.scan.passing.worker import Worker


class Engine(Protocol):
    """Runs units in any order."""

    def run(self, passes: Sequence[Pass], units: Sequence[Unit], folder: Path) -> Iterator[int]:
        """Do all of these; the number of each comes as soon as its rows lie in the folder.

        Raises:
            OSError: rows cannot be written.
            UnsupportedError: workers die again and again.
        """


class InThisProcess:
    """One unit after the other, with no process beside this one."""

    def run(self, passes: Sequence[Pass], units: Sequence[Unit], folder: Path) -> Iterator[int]:
        """See `Engine`."""
        worker = Worker(passes, folder)
        yield from map(worker.run, units)
