"""The windows of all answers, to be looked up by their hash: files of numbers, mapped by every process that asks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kvfence.errors import TargetError
from kvfence.scan.foreign.owners import NOBODY, Exchanges, ordinals, places_of
from kvfence.scan.foreign.sieve import Sieve, read_sieve, write_sieve
from kvfence.scan.foreign.spread import FILES, Spread, private
from kvfence.scan.foreign.windows import Hashes, Offsets

COMMON_OWNERS = 64
"""A window that so many owners have is common, and nobody looks closer at it."""
COMMON_ANSWERS = 4096
"""The same of a window that stands in so many answers, of whomever."""
ABSENT = -1
WINDOWS_MAX = 2**32 - 1
HASHES_PER_SHELF = 8

_ROW = np.dtype([("hash", "<u8"), ("place", "<u8"), ("at", "<u4")])
POSTING = np.dtype([("answer", "<u4"), ("at", "<u4")])
_FILES = ("hashes", "begins", "postings")


@dataclass(frozen=True, slots=True)
class Index:
    """Hashes in their order, and for each the answers that have it. One without answers is of a common window."""

    hashes: Hashes
    begins: Offsets
    """Of each hash, where its postings begin; one more for the end."""
    postings: npt.NDArray[np.void]
    """Of `POSTING`: the row of the exchange, and the byte of its answer."""
    sieve: Sieve
    shelves: npt.NDArray[np.uint32]
    """Where the hashes with the same highest bits begin, for each value of those; one more for the end."""

    def numbers(self, hashes: Hashes) -> Offsets:
        """Of each, its number in the index, or `ABSENT`."""
        if not len(self.hashes):
            return np.full(len(hashes), ABSENT, np.int64)
        shelf = (hashes >> np.uint64(65 - len(self.shelves).bit_length())).view(np.int64)
        found = self.shelves[shelf].astype(np.int64)
        left = self.shelves[shelf + 1] - found
        while left.any():  # a search by halves of all shelves at once; a whole one is in a line or two of the cache
            half = left >> 1
            is_behind = (self.hashes[np.minimum(found + half, len(self.hashes) - 1)] < hashes) & (left > 0)
            found = np.where(is_behind, found + half + 1, found)
            left = np.where(is_behind, left - half - 1, half)
        found[found == len(self.hashes)] = 0
        return np.where(self.hashes[found] == hashes, found, ABSENT)

    def counts(self, numbers: Offsets) -> Offsets:
        """How many postings each has."""
        return cast("Offsets", self.begins[numbers + 1] - self.begins[numbers])

    def are_of_very_many(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """Which of these are in it without answers: so many have them that no answer was kept, and nothing met them."""
        numbers = self.numbers(hashes)
        are_here: npt.NDArray[np.bool_] = numbers != ABSENT
        are_here[are_here] = self.counts(numbers[are_here]) == 0
        return are_here


def write_index(windows: Iterable[pa.RecordBatch], exchanges: Exchanges, folder: Path) -> None:
    """Sort the rows of `AnswerWindows` into an index. Memory: a 64th part of them, and 8 bytes for each exchange.

    Raises:
        OSError: the disk is full, or gone.
        TargetError: there are too many.
    """
    spread = Spread(folder, "windows", _ROW)
    for batch in windows:
        rows = np.empty(batch.num_rows, _ROW)
        rows["hash"], rows["place"] = batch["hash"].to_numpy(), places_of(batch)
        rows["at"] = batch["at"].to_numpy()
        spread.add(rows, rows["hash"] // np.uint64(2**64 // FILES))
    for name in _FILES:
        private(folder / name)
    np.zeros(1, np.int64).tofile(folder / "begins")
    total = 0
    for rows in spread.files():
        total = _append(rows, exchanges, folder, total)
    spread.remove()
    if total > WINDOWS_MAX:
        raise TargetError(f"these logs have more than {WINDOWS_MAX:,} stretches of answers; scan them in parts")
    hashes = _mapped(folder / "hashes", np.uint64)
    write_sieve(hashes, folder / "sieve")
    shelves_of(hashes).tofile(private(folder / "shelves"))


def open_index(folder: Path) -> Index:
    """The index that was written there.

    Raises:
        OSError: it cannot be read.
    """
    return Index(
        _mapped(folder / "hashes", np.uint64),
        _mapped(folder / "begins", np.int64),
        _mapped(folder / "postings", POSTING),
        read_sieve(folder / "sieve"),
        _mapped(folder / "shelves", np.uint32),
    )


def shelves_of(hashes: Hashes) -> npt.NDArray[np.uint32]:
    """See `Index`: of these, in their order."""
    bits = max(1, (len(hashes) // HASHES_PER_SHELF).bit_length())
    firsts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    return np.append(np.searchsorted(hashes, firsts), len(hashes)).astype(np.uint32)


def _append(rows: npt.NDArray[np.void], exchanges: Exchanges, folder: Path, total: int) -> int:
    """Add the rows of one file, whose hashes are all behind those before; how many postings there are now."""
    rows = rows[np.argsort(rows["hash"], kind="stable")]
    answers = ordinals(exchanges, rows["place"])
    firsts = np.flatnonzero(np.r_[True, rows["hash"][1:] != rows["hash"][:-1]]) if len(rows) else np.empty(0, np.int64)
    counts = np.diff(np.r_[firsts, len(rows)])
    common = (owners_per_number(np.repeat(np.arange(len(firsts)), counts), distinct_owners(exchanges, answers))) > (
        COMMON_OWNERS
    )
    common |= counts > COMMON_ANSWERS
    kept = np.repeat(~common, counts)
    postings = np.empty(int(kept.sum()), POSTING)
    postings["answer"], postings["at"] = answers[kept], rows["at"][kept]
    begins = total + np.cumsum(np.where(common, 0, counts))
    for name, column in zip(_FILES, (rows["hash"][firsts], begins, postings), strict=True):
        with (folder / name).open("ab") as file:
            file.write(np.ascontiguousarray(column).tobytes())
    return total + len(postings)


def distinct_owners(exchanges: Exchanges, rows: Offsets) -> Hashes:
    """Whose these exchanges are; each one's own where nobody knows."""
    owners = exchanges["owner"][rows]
    return np.where(owners == NOBODY, rows.astype(np.uint64) + np.uint64(1), owners)


def owners_per_number(numbers: Offsets, owners: Hashes) -> Offsets:
    """How many different owners each number has, from pairs of both; the numbers are in order, from 0."""
    if not len(numbers):
        return np.empty(0, np.int64)
    order = np.lexsort((owners, numbers))
    by_number, by_owner = numbers[order], owners[order]
    is_new = np.r_[True, (by_number[1:] != by_number[:-1]) | (by_owner[1:] != by_owner[:-1])]
    return np.bincount(by_number[is_new], minlength=int(numbers[-1]) + 1)


def _mapped(path: Path, of: Any) -> npt.NDArray[Any]:
    return np.asarray(np.memmap(path, of, "r")) if path.stat().st_size else np.empty(0, of)
