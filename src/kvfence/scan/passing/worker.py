"""One unit of work from its texts to its files. Nothing of a unit is there before all of it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from kvfence.scan.exchange import Unread
from kvfence.scan.passing.scan_pass import Pass
from kvfence.scan.passing.task import Task
from kvfence.scan.passing.units import Unit
from kvfence.scan.reading.exchanges import batches_of

UNREAD = pa.schema(
    [
        pa.field("source", pa.int32(), nullable=False),
        pa.field("line", pa.int64()),
        pa.field("why", pa.string(), nullable=False),
    ]
)
"""A row for each thing that could not be read; it is written beside the rows of the passes, under `UNREAD_NAME`."""
UNREAD_NAME = "unread"
_UNREAD_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Passing:
    """The job of reading inputs once, with several passes over what is read."""

    passes: tuple[Pass, ...]

    def worker(self, folder: Path) -> Callable[[Unit], int]:
        """See `Job`."""
        return Worker(self.passes, folder).run


class Worker:
    """Runs its passes over one unit after the other, and leaves the rows in a folder."""

    def __init__(self, passes: Sequence[Pass], folder: Path) -> None:
        self._kernels = [(one.name, one.output, one.ready()) for one in passes]
        self._folder = folder

    def run(self, unit: Unit) -> int:
        """Do this unit; its number is returned.

        Raises:
            OSError: the rows cannot be written.
        """
        with made_at(done_at(self._folder, unit)) as making:
            self._write(unit, making)
        return unit.number

    def _write(self, unit: Unit, making: Path) -> None:
        with ExitStack() as stack:
            outputs = [
                (kernel, stack.enter_context(_file(making / rows_file(name), schema)))
                for name, schema, kernel in self._kernels
            ]
            unread = stack.enter_context(_file(making / rows_file(UNREAD_NAME), UNREAD))
            for item in _batches(unit):
                if isinstance(item, list):
                    unread.write_batch(_unread_batch(item))
                    continue
                for kernel, output in outputs:
                    rows = kernel(item)
                    if rows.num_rows:
                        output.write_batch(rows)


def rows_file(name: str) -> str:
    """What the file of a pass's rows is called."""
    return f"{name}.arrow"


def done_at(folder: Path, task: Task) -> Path:
    """The folder of a task that is done."""
    return folder / f"{task.number:06d}"


@contextmanager
def made_at(done: Path) -> Iterator[Path]:
    """A new folder, which is there under this name when all is written, and not before."""
    making = done.with_name(f"{done.name}.{os.getpid()}.part")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(mode=0o700)
    try:
        yield making
        making.rename(done)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


def _file(path: Path, schema: pa.Schema) -> pa.RecordBatchFileWriter:
    return pa.ipc.new_file(str(path), schema)


def _batches(unit: Unit) -> Iterator[pa.RecordBatch | list[Unread]]:
    unread: list[Unread] = []
    for piece in unit.pieces:
        for item in batches_of(piece.source, piece.part):
            if isinstance(item, pa.RecordBatch):
                yield item
                continue
            unread.append(item)
            if len(unread) == _UNREAD_AT_ONCE:
                yield unread
                unread = []
    if unread:
        yield unread


def _unread_batch(unread: Sequence[Unread]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [{"source": one.source, "line": one.line, "why": one.why} for one in unread], schema=UNREAD
    )
