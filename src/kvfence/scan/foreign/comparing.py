"""The job behind the join: what met is read again by its place, and bytes decide. Its rows are numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Self, cast

import numpy as np
import pyarrow as pa

from kvfence.errors import TargetError
from kvfence.scan.foreign.index import open_index
from kvfence.scan.foreign.joining import TASKS, owners_allowed
from kvfence.scan.foreign.meeting import Meeting, meetings
from kvfence.scan.foreign.owners import NOBODY, Exchanges, read_exchanges, source_and_offset
from kvfence.scan.foreign.pairs import pairs_in
from kvfence.scan.foreign.spans import Found, Span, found_in, needed
from kvfence.scan.foreign.texts import with_texts
from kvfence.scan.foreign.windows import ANSWER_STEP, WINDOW_BYTES, Hashing, octets_of
from kvfence.scan.passing.passed import batches_in
from kvfence.scan.passing.worker import done_at, made_at, rows_file
from kvfence.scan.reading.exchanges import is_divisible
from kvfence.scan.reading.source import Source

TASKS_WHERE_READ_FROM_THE_BEGINNING = 4
"""Each task may read every packed file to its end."""
FOUND = pa.schema(
    [
        pa.field("answer", pa.int64(), nullable=False),
        pa.field("at", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("source", pa.int64(), nullable=False),
        pa.field("source_at", pa.int64(), nullable=False),
        pa.field("in_prompt", pa.bool_(), nullable=False),
        pa.field("candidates", pa.int64(), nullable=False),
    ]
)
"""`answer` and `source` are rows of the table of exchanges; the rest as `Span` and `Found` have it."""
_NAME = "found"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The task: some answers, with all that the join says of them."""

    number: int
    first: int
    """The rows of the first of its answers, and of the next one behind the last, in the table of exchanges."""
    end: int

    @property
    def size(self) -> int:
        """See `Task`: how many exchanges it is about."""
        return self.end - self.first

    @property
    def where(self) -> str:
        """See `Task`."""
        return f"comparing texts, part {self.number + 1}"

    def rooted(self) -> Self:
        """See `Task`: the work folder is named from the root."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparing:
    """The job."""

    sources: tuple[Source, ...]
    exchanges: Path
    """The file of the table."""
    pairs: tuple[Path, ...]
    """Files of the join."""
    index: Path
    """Its folder."""
    hashing: Hashing

    def worker(self, folder: Path) -> Callable[[Comparison], int]:
        """See `Job`."""
        return _Comparer(self, read_exchanges(self.exchanges), folder).do


class _Comparer:
    def __init__(self, job: Comparing, exchanges: Exchanges, folder: Path) -> None:
        self._job, self._exchanges, self._folder = job, exchanges, folder
        self._index = open_index(job.index)
        self._most = owners_allowed(exchanges)

    def do(self, task: Comparison) -> int:
        """Compare all of its answers with what met them.

        Raises:
            OSError: a file cannot be read, or no rows written.
            TargetError: a file has changed since it was read.
        """
        rows = [_row(meeting, found) for meeting, found in self._found(task)]
        with (
            made_at(done_at(self._folder, task)) as making,
            pa.ipc.new_file(str(making / rows_file(_NAME)), FOUND) as file,
        ):
            file.write_batch(pa.RecordBatch.from_pylist(rows, schema=FOUND))
        return task.number

    def _found(self, task: Comparison) -> Iterator[tuple[Meeting, Found]]:
        met = ((meeting, [*needed(meeting)]) for meeting in self._met(task))
        for meeting, texts in with_texts(met, self._exchanges, self._job.sources):
            owners = {row: self._owner(row) for row in needed(meeting)}
            answer = texts[meeting.answer].answer.encode(errors="replace")
            known = replace(meeting, common=tuple(sorted({*meeting.common, *self._of_very_many(answer)})))
            for found in found_in(known, texts, owners, self._most, self._job.hashing):
                yield meeting, found

    def _of_very_many(self, answer: bytes) -> Iterable[int]:
        """Where windows begin that so many answers have that none was kept: no pair tells of them."""
        offsets = np.arange(0, len(answer) - WINDOW_BYTES + 1, ANSWER_STEP)
        hashes = self._job.hashing.at(octets_of(answer), offsets)
        return cast("list[int]", offsets[self._index.are_of_very_many(hashes)].tolist())

    def _met(self, task: Comparison) -> Iterator[Meeting]:
        step = -(-len(self._exchanges) // TASKS)
        for first in range(task.first, task.end, step):
            pairs = pairs_in(self._job.pairs, first, min(first + step, task.end))
            yield from meetings(pairs, self._exchanges, self._most)

    def _owner(self, row: int) -> int | None:
        owner = int(self._exchanges["owner"][row])
        return None if owner == NOBODY else owner


def comparisons(exchanges: Exchanges, sources: Sequence[Source]) -> list[Comparison]:
    """The tasks of all answers. They depend on nothing but the inputs."""
    is_direct = all(_is_read_in_place(sources[number]) for number in _sources_in(exchanges))
    count = TASKS if is_direct else TASKS_WHERE_READ_FROM_THE_BEGINNING
    ends = [len(exchanges) * number // count for number in range(count + 1)]
    return [Comparison(number, *some) for number, some in enumerate(pairwise(ends)) if some[1] > some[0]]


def found_by(tasks: Sequence[Comparison], folder: Path) -> Iterator[tuple[int, Found]]:
    """What these found, in the order of the answers: the row of the answer, and what stands in it."""
    for task in tasks:
        for batch in batches_in(done_at(folder, task) / rows_file(_NAME)):
            for row in batch.to_pylist():
                answer, candidates = row.pop("answer"), row.pop("candidates")
                yield answer, Found(Span(**row), candidates)


def _row(meeting: Meeting, found: Found) -> dict[str, int]:
    span = found.span
    return {
        "answer": meeting.answer,
        "at": span.at,
        "end": span.end,
        "source": span.source,
        "source_at": span.source_at,
        "in_prompt": span.in_prompt,
        "candidates": found.candidates,
    }


def _sources_in(exchanges: Exchanges) -> set[int]:
    return {source_and_offset(place)[0] for place in exchanges["place"].tolist()}


def _is_read_in_place(source: Source) -> bool:
    try:
        return is_divisible(source)
    except TargetError:
        return False  # it is gone; whoever reads it says so
