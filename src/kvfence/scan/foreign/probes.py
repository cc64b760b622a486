"""The pass of the second reading: where prompts and answers have windows that stand in other answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kvfence.scan.foreign.index import ABSENT, Index, open_index
from kvfence.scan.foreign.owners import (
    NEVER_BEGAN,
    NOBODY,
    Exchanges,
    Isolation,
    began_of,
    ordinals,
    owner_numbers,
    places_of,
    read_exchanges,
)
from kvfence.scan.foreign.windows import (
    ANSWER_STEP,
    PROBE_STEP,
    WINDOW_BYTES,
    Hashes,
    Hashing,
    Octets,
    Offsets,
    repeats,
    texts_of,
)
from kvfence.scan.passing.scan_pass import Kernel

EXCHANGES_FILE = "exchanges"
_HELD = 1 << 20
"""So many hits are held before they are thinned out."""

OUTPUT = pa.schema(
    [
        pa.field("number", pa.uint32(), nullable=False),
        pa.field("exchange", pa.uint32(), nullable=False),
        pa.field("in_prompt", pa.bool_(), nullable=False),
    ]
)
"""`number`: of a window in the index; `exchange`: a row of the table of exchanges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """A row for each window of the index that an exchange has: the first and the last one of each owner in a batch.

    In the order of the index. Those that cannot matter have none, since they came too late or are the answer itself.
    """

    hashing: Hashing
    folder: Path
    """Of the index and the table of exchanges."""
    key: int
    """Of the owners' numbers."""
    isolation: Isolation

    @property
    def name(self) -> str:
        """See `Pass`."""
        return "probes"

    @property
    def output(self) -> pa.Schema:
        """See `Pass`."""
        return OUTPUT

    def ready(self) -> Kernel:
        """See `Pass`."""
        return _Probing(self, open_index(self.folder), read_exchanges(self.folder / EXCHANGES_FILE)).rows


@dataclass(frozen=True, slots=True)
class _Asking:
    """The exchanges of a batch."""

    places: Hashes
    owners: Hashes
    began: Offsets


class _Probing:
    def __init__(self, asked: Probes, index: Index, exchanges: Exchanges) -> None:
        self._asked = asked
        self._index = index
        self._exchanges = exchanges

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        asking = _Asking(
            places_of(batch), owner_numbers(batch, self._asked.key, self._asked.isolation), began_of(batch)
        )
        exchanges = ordinals(self._exchanges, asking.places).astype(np.uint32)
        columns: dict[str, list[Any]] = {name: [] for name in OUTPUT.names}
        for part in ("prompt", "answer"):
            numbers, rows = self._met(asking, batch[part], is_prompt=part == "prompt")
            columns["number"].append(numbers.astype(np.uint32))
            columns["exchange"].append(exchanges[rows])
            columns["in_prompt"].append(np.full(len(rows), part == "prompt"))
        whole = {name: np.concatenate(columns[name]) for name in OUTPUT.names}
        order = np.argsort(whole["number"], kind="stable")
        return pa.RecordBatch.from_arrays([pa.array(whole[name][order]) for name in OUTPUT.names], schema=OUTPUT)

    def _met(self, asking: _Asking, column: pa.LargeStringArray, *, is_prompt: bool) -> tuple[Offsets, Offsets]:
        """Numbers of windows and rows of the batch that have them."""
        text, begins = texts_of(column)
        numbers, rows = np.empty(0, np.int64), np.empty(0, np.int64)
        for offsets, hashes in self._maybe(text):
            more, at = self._known(offsets, hashes, text, begins)
            of = np.searchsorted(begins, at, "right") - 1
            matters = self._matters(asking, more, of, is_prompt=is_prompt)
            numbers, rows = np.r_[numbers, more[matters]], np.r_[rows, of[matters]]
            numbers, rows = _thinned(asking, numbers, rows)
        return numbers, rows

    def _maybe(self, text: Octets) -> Iterator[tuple[Offsets, Hashes]]:
        """What the sieve lets through, some at a time."""
        offsets: list[Offsets] = []
        hashes: list[Hashes] = []
        held = 0
        for first, some in self._asked.hashing.every(text, PROBE_STEP):
            through = self._index.sieve.through(some)
            if len(through) > len(some) // 8:
                through = through[~repeats(some, through)]
            if len(through):
                offsets.append(first + PROBE_STEP * through)
                hashes.append(some[through])
                held += len(through)
            if held >= _HELD:
                yield np.concatenate(offsets), np.concatenate(hashes)
                offsets, hashes, held = [], [], 0
        if held:
            yield np.concatenate(offsets), np.concatenate(hashes)

    def _known(self, offsets: Offsets, hashes: Hashes, text: Octets, begins: Offsets) -> tuple[Offsets, Offsets]:
        """Those in the index that lie in one text whole, beside another window of the answer: numbers and offsets."""
        numbers = self._index.numbers(hashes)
        ends = begins[np.searchsorted(begins, offsets, "right")]
        kept = (numbers != ABSENT) & (offsets + WINDOW_BYTES <= ends)
        numbers, offsets, ends = numbers[kept], offsets[kept], ends[kept]
        begun = begins[np.searchsorted(begins, offsets, "right") - 1]
        goes_on = np.zeros(len(numbers), np.bool_)
        for step in (-ANSWER_STEP, ANSWER_STEP):
            there = np.flatnonzero((offsets + step >= begun) & (offsets + step + WINDOW_BYTES <= ends))
            beside = self._index.numbers(self._asked.hashing.at(text, offsets[there] + step))
            goes_on[there] |= self._is_beside(numbers[there], beside, step)
        return numbers[goes_on], offsets[goes_on]

    def _is_beside(self, numbers: Offsets, others: Offsets, step: int) -> Any:
        """Whether the other window stands so many bytes behind in an answer.

        It is looked at where each is in one answer alone, and else taken for granted.
        """
        index = self._index
        known = others != ABSENT
        single = known & (index.counts(numbers) == 1) & (index.counts(np.where(known, others, 0)) == 1)
        here = index.postings[index.begins[numbers[single]]]
        there = index.postings[index.begins[others[single]]]
        known[single] = (here["answer"] == there["answer"]) & (
            here["at"].astype(np.int64) + step == there["at"].astype(np.int64)
        )
        return known

    def _matters(self, asking: _Asking, numbers: Offsets, rows: Offsets, *, is_prompt: bool) -> Any:
        """Whether it tells who else has the text: not where it is the answer itself, or repeats it."""
        counts = self._index.counts(numbers)
        single = counts == 1
        matters = counts > 0
        answers = self._exchanges[self._index.postings[self._index.begins[numbers[single]]]["answer"]]
        rows = rows[single]
        own = (asking.owners[rows] == answers["owner"]) & (answers["owner"] != NOBODY)
        began = asking.began[rows]
        is_later = (began > answers["began"]) & (answers["began"] != NEVER_BEGAN)
        matters[single] = (~own | (~is_later & is_prompt)) & (asking.places[rows] != answers["place"])
        return matters


def _thinned(asking: _Asking, numbers: Offsets, rows: Offsets) -> tuple[Offsets, Offsets]:
    """Of each window the first and the last row of each owner, by time; rows of nobody are each one's own."""
    owners = asking.owners[rows]
    owners = np.where(owners == NOBODY, rows.astype(np.uint64) + np.uint64(1), owners)
    order = np.lexsort((rows, asking.began[rows], owners, numbers))
    numbers, rows, owners = numbers[order], rows[order], owners[order]
    other = (numbers[1:] != numbers[:-1]) | (owners[1:] != owners[:-1])
    once = np.r_[True, other | (rows[1:] != rows[:-1])] if len(rows) else np.empty(0, np.bool_)
    numbers, rows, owners = numbers[once], rows[once], owners[once]
    other = (numbers[1:] != numbers[:-1]) | (owners[1:] != owners[:-1])
    kept = np.r_[True, other] | np.r_[other, True] if len(rows) else np.empty(0, np.bool_)
    return numbers[kept], rows[kept]
