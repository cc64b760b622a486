"""The job that joins the two readings, by numbers alone: each answer with the exchanges that have windows of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kvfence.scan.foreign.index import open_index
from kvfence.scan.foreign.owners import NOBODY, Exchanges, read_exchanges
from kvfence.scan.foreign.pairs import MET, pairs_of, table_of
from kvfence.scan.passing.passed import batches_in
from kvfence.scan.passing.worker import done_at, made_at, rows_file

TASKS = 64
"""Parts of the windows, and then of the answers: each is small enough to be sorted in memory."""
COMMON_MIN, COMMON_MAX, COMMON_SHARE = 2, 4, 4
"""A stretch is common where more owners have it than a quarter of all, 2 at least and 4 at most. What is lost is
text that several have as well, and of which nobody can tell whose it was."""
_NAME = "pairs"


def owners_allowed(exchanges: Exchanges) -> int:
    """How many owners may have a stretch that is still somebody's.

    Requests that name none are counted as one each; the turns of one conversation are told when texts are read.
    """
    known = np.unique(exchanges["owner"])
    owners = int((known != NOBODY).sum()) + int((exchanges["owner"] == NOBODY).sum())
    return max(COMMON_MIN, min(COMMON_MAX, owners // COMMON_SHARE))


@dataclass(frozen=True, slots=True)
class WindowRange:
    """The task: so many parts are all windows of the index."""

    number: int
    size: int
    """Of all probes, this one's share in bytes."""

    @property
    def where(self) -> str:
        """See `Task`."""
        return f"joining what met, part {self.number + 1} of {TASKS}"

    def rooted(self) -> Self:
        """See `Task`: there are no paths in it."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """The job."""

    probes: tuple[Path, ...]
    """Files of the second reading's rows, whose batches are each in the order of their numbers."""
    index: Path
    """The folder."""
    exchanges: Path
    """The file of the table."""

    def worker(self, folder: Path) -> Callable[[WindowRange], int]:
        """See `Job`."""
        return _Joiner(self, folder).do

    def tasks(self) -> list[WindowRange]:
        """All of them."""
        size = sum(path.stat().st_size for path in self.probes)
        return [WindowRange(number, size // TASKS) for number in range(TASKS)]


def pairs_files(folder: Path, tasks: Sequence[WindowRange]) -> tuple[Path, ...]:
    """What these tasks left there: rows of `pairs.PAIRS`, in the order of the answers in each file."""
    return tuple(done_at(folder, task) / rows_file(_NAME) for task in tasks)


class _Joiner:
    def __init__(self, job: Joining, folder: Path) -> None:
        self._folder = folder
        self._index, self._exchanges = open_index(job.index), read_exchanges(job.exchanges)
        self._most = owners_allowed(self._exchanges)
        self._probes = [batch for path in job.probes for batch in batches_in(path)]

    def do(self, task: WindowRange) -> int:
        """Join one range of the windows.

        Raises:
            OSError: the disk is full, or gone.
        """
        windows = len(self._index.hashes)
        first, end = (windows * number // TASKS for number in (task.number, task.number + 1))
        pairs = table_of(pairs_of(self._met(first, end), self._index, self._exchanges, self._most))
        with (
            made_at(done_at(self._folder, task)) as making,
            pa.ipc.new_file(str(making / rows_file(_NAME)), pairs.schema) as file,
        ):
            file.write_batch(pairs)
        return task.number

    def _met(self, first: int, end: int) -> npt.NDArray[np.void]:
        """The probes' rows of the windows with these numbers, in the order of the exchanges."""
        found = [np.empty(0, MET)]
        for batch in self._probes:
            numbers = batch["number"].to_numpy()
            begin, stop = np.searchsorted(numbers, np.array((first, end), numbers.dtype))
            some = batch.slice(begin, stop - begin)
            rows = np.empty(len(some), MET)
            for name in ("number", "exchange"):
                rows[name] = some[name].to_numpy()
            rows["in_prompt"] = some["in_prompt"].to_numpy(zero_copy_only=False)
            found.append(rows)
        return np.concatenate(found)
