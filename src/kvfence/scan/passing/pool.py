"""Units of work in several processes of this machine. A worker that dies loses its unit, and another one does it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread

from kvfence.errors import UnsupportedError
from kvfence.scan.passing.scan_pass import Pass
from kvfence.scan.passing.units import Unit
from kvfence.scan.passing.worker import Worker
from kvfence.scan.secrecy import no_core_dumps

DEATHS_MAX = 3
"""So often may workers die without a unit done in between: then it is no accident."""


class Pool:
    """Runs units in so many processes."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def run(self, passes: Sequence[Pass], units: Sequence[Unit], folder: Path) -> Iterator[int]:
        """See `Engine`."""
        left = {unit.number: unit for unit in units}
        deaths = 0
        while left:
            try:
                for number in self._some(passes, list(left.values()), folder):
                    del left[number]
                    deaths = 0
                    yield number
            except BrokenProcessPool:
                deaths += 1
                if deaths == DEATHS_MAX:
                    raise UnsupportedError(_dying(left)) from None

    def _some(self, passes: Sequence[Pass], units: Sequence[Unit], folder: Path) -> Iterator[int]:
        others = set(multiprocessing.active_children())
        executor = ProcessPoolExecutor(
            min(self._workers, len(units)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(tuple(passes), folder),
        )
        try:
            futures: list[Future[int]] = [executor.submit(_run, unit) for unit in units]
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.kill()
            raise
        finally:
            executor.shutdown(cancel_futures=True)


def _dying(left: dict[int, Unit]) -> str:
    first = left[min(left)].pieces[0]
    where = f"{first.source.shown}, at byte {first.part.offset:,} or behind it"
    return f"{where}: workers died {DEATHS_MAX} times, most likely for want of memory; go on with fewer --workers"


_WORKER: list[Worker] = []
"""The one of this process."""


def _begin(passes: tuple[Pass, ...], folder: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    no_core_dumps()
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    _WORKER[:] = [Worker(passes, folder)]


def _run(unit: Unit) -> int:
    return _WORKER[0].run(unit)


def _end_with(sentinel: int) -> None:
    """A worker does not outlive its parent, however that ended."""
    wait([sentinel])
    os._exit(1)
