"""Where tasks are run: one engine a file, and each gives the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from kvfence.scan.passing.task import Job, T


class Engine(Protocol):
    """Runs tasks in any order."""

    def run(self, job: Job[T], tasks: Sequence[T], folder: Path) -> Iterator[int]:
        """Do all of these; the number of each comes as soon as its rows lie in the folder.

        Raises:
            OSError: rows cannot be written.
            UnsupportedError: workers die again and again.
        """


class InThisProcess:
    """One task after the other, with no process beside this one."""

    def run(self, job: Job[T], tasks: Sequence[T], folder: Path) -> Iterator[int]:
        """See `Engine`."""
        yield from map(job.worker(folder), tasks)
