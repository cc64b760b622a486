"""Some passes over one reading of all inputs, and their rows; what an earlier run did is not done again."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from kvfence.errors import TargetError
from kvfence.scan.exchange import Unread
from kvfence.scan.passing.engine import Engine
from kvfence.scan.passing.scan_pass import Pass
from kvfence.scan.passing.task import Job, T
from kvfence.scan.passing.units import Unit
from kvfence.scan.passing.worker import UNREAD_NAME, Passing, done_at, rows_file

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class Passed:
    """The rows, as they lie in a folder."""

    folder: Path
    units: tuple[Unit, ...]

    def batches(self, name: str) -> Iterator[pa.RecordBatch]:
        """The rows of this pass, in the order of the inputs; mapped from their files, so that they take no memory."""
        for path in self.files(name):
            yield from batches_in(path)

    def files(self, name: str) -> Iterator[Path]:
        """Where these rows lie."""
        return (done_at(self.folder, unit) / rows_file(name) for unit in self.units)

    def unread(self) -> Iterator[Unread]:
        """What could not be read, in the order of the inputs."""
        for batch in self.batches(UNREAD_NAME):
            for row in batch.to_pylist():
                yield Unread(**row)


def batches_in(path: Path) -> Iterator[pa.RecordBatch]:
    """The rows of a file, mapped."""
    with pa.memory_map(str(path)) as file:
        reader = pa.ipc.open_file(file)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)


def passed(
    passes: Sequence[Pass],
    units: Sequence[Unit],
    *,
    engine: Engine,
    folder: Path,
    on_done: Callable[[Unit], None] = lambda _unit: None,
) -> Passed:
    """Run the passes over these units. Arguments and errors: see `do`."""
    do(Passing(tuple(passes)), units, engine=engine, folder=folder, on_done=on_done)
    return Passed(folder, tuple(units))


def do(
    job: Job[T],
    tasks: Sequence[T],
    *,
    engine: Engine,
    folder: Path,
    on_done: Callable[[T], None] = lambda _task: None,
) -> None:
    """Do these tasks. `on_done` is told of each, also of those that an earlier run did.

    Raises:
        OSError: rows cannot be written.
        TargetError: there is no more room for them.
        UnsupportedError: workers die again and again.
    """
    by_number = {task.number: task for task in tasks}
    left = []
    for task in tasks:
        if done_at(folder, task).exists():
            on_done(task)
        else:
            left.append(task)
    try:
        for number in engine.run(job, left, folder) if left else ():
            on_done(by_number[number])
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise TargetError(
            f"{folder.parent}: no room for what is found on the way ({os.strerror(error.errno)}); make room, or name a "
            "--work with more; where one was named, the next run goes on from here"
        ) from None
