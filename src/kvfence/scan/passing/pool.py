"""Tasks in several processes of this machine. A worker that dies loses its task, and another one does it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import Any

from kvfence.errors import UnsupportedError
from kvfence.scan.passing.task import Job, T, Task
from kvfence.scan.secrecy import no_core_dumps

DEATHS_MAX = 3
"""So often may workers die without a task done in between: then it is no accident."""


class Pool:
    """Runs tasks in so many processes."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def run(self, job: Job[T], tasks: Sequence[T], folder: Path) -> Iterator[int]:
        """See `Engine`."""
        left = {task.number: task for task in tasks}
        deaths = 0
        while left:
            try:
                for number in self._some(job, list(left.values()), folder):
                    del left[number]
                    deaths = 0
                    yield number
            except BrokenProcessPool:
                deaths += 1
                if deaths == DEATHS_MAX:
                    raise UnsupportedError(_dying(left)) from None

    def _some(self, job: Job[T], tasks: Sequence[T], folder: Path) -> Iterator[int]:
        others = set(multiprocessing.active_children())
        executor = ProcessPoolExecutor(
            min(self._workers, len(tasks)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(job, folder),
        )
        try:
            futures: list[Future[int]] = [executor.submit(_run, task) for task in tasks]
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.kill()
            raise
        finally:
            executor.shutdown(cancel_futures=True)


def _dying(left: Mapping[int, Task]) -> str:
    where = left[min(left)].where
    return f"{where}: workers died {DEATHS_MAX} times, most likely for want of memory; go on with fewer --workers"


_WORKER: list[Callable[[Any], int]] = []
"""The one of this process."""


def _begin(job: Job[Any], folder: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    no_core_dumps()
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    _WORKER[:] = [job.worker(folder)]


def _run(task: Task) -> int:
    return _WORKER[0](task)


def _end_with(sentinel: int) -> None:
    """A worker does not outlive its parent, however that ended."""
    wait([sentinel])
    os._exit(1)
