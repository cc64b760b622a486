"""An engine in a process of its own: where something ends that process, the scan is still there to say so."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from kvfence.errors import KvfenceError, UnsupportedError
from kvfence.scan.passing.engine import Engine
from kvfence.scan.passing.task import Job, T
from kvfence.scan.secrecy import no_core_dumps

_ENDS_S = 10
"""A process that has said its last word, or is asked to end, has so long to do it."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Runs what `make` makes: a function that a new process can import, and its arguments.

    Ray ends the process that uses it, with status 1 and no word, where Ray itself dies on this machine.
    """

    what: str
    """As it is named where it dies."""
    make: Callable[..., Engine]
    arguments: tuple[Any, ...]

    def run(self, job: Job[T], tasks: Sequence[T], folder: Path) -> Iterator[int]:
        """See `Engine`.

        Raises:
            UnsupportedError: the process died.
        """
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_run, args=(self, job, tasks, folder, theirs), daemon=True)
        child.start()
        theirs.close()
        try:
            yield from self._told(ours)
            child.join(_ENDS_S)
        finally:
            child.terminate()
            child.join(_ENDS_S)
            child.kill()
            child.join()
            ours.close()

    def _told(self, ours: Connection) -> Iterator[int]:
        while True:
            try:
                said = ours.recv()
            except (EOFError, OSError):
                raise UnsupportedError(
                    f"{self.what} died on this machine before all was done, most likely for want of memory; "
                    "with --work the same command goes on from there"
                ) from None
            match said:
                case None:
                    return
                case int():
                    yield said
                case _:
                    raise said


def _run(asked: Apart, job: Job[T], tasks: Sequence[T], folder: Path, theirs: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the scan, which then ends this process
    signal.signal(signal.SIGTERM, _leave)  # and the engine ends what it began
    no_core_dumps()
    try:
        for number in asked.make(*asked.arguments).run(job, tasks, folder):
            theirs.send(number)
    except (KvfenceError, OSError) as error:
        theirs.send(error)
    else:
        theirs.send(None)


def _leave(_signal: int, _frame: object) -> None:
    sys.exit()
