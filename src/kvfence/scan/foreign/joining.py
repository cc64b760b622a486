"""The join of the two readings, by numbers alone: each answer with the exchanges that have windows of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kvfence.scan.foreign.index import COMMON_OWNERS, Index, distinct_owners, owners_per_number
from kvfence.scan.foreign.owners import NEVER_BEGAN, NOBODY, Exchanges, ordinals, places_of
from kvfence.scan.foreign.spread import FILES, Spread
from kvfence.scan.foreign.windows import Offsets

COMMON_MIN, COMMON_MAX, COMMON_SHARE = 2, 4, 4
"""A stretch is common where more owners have it than a quarter of all, 2 at least and 4 at most. What is lost is
text that several have as well, and of which nobody can tell whose it was."""

_MET = np.dtype([("number", "<i8"), ("exchange", "<u4"), ("in_prompt", "?")])
PAIR = np.dtype(
    [
        ("answer", "<u4"),
        ("at", "<u4"),
        ("exchange", "<u4"),
        ("is_own", "?"),
        ("in_prompt", "?"),
        ("is_late", "?"),
        ("crowd", "u1"),
    ]
)
Pairs = npt.NDArray[np.void]
"""Of `PAIR`: an answer and the byte of it where a window begins, and an exchange that has the window.

`is_own`: of the answer's owner, before it. `is_late`: begun when the answer had ended. `crowd`: 0, or this one stands
for all that have the window, as they are more than any text of one owner has.
"""
MANY, MANY_ASKED = 1, 2
"""Kinds of crowds: of whomever, and of owners who have it in their prompts."""


def owners_allowed(exchanges: Exchanges) -> int:
    """How many owners may have a stretch that is still somebody's.

    Requests that name none are counted as one each; the turns of one conversation are told when texts are read.
    """
    known = np.unique(exchanges["owner"])
    owners = int((known != NOBODY).sum()) + int((exchanges["owner"] == NOBODY).sum())
    return max(COMMON_MIN, min(COMMON_MAX, owners // COMMON_SHARE))


def joined(probes: Iterable[pa.RecordBatch], index: Index, exchanges: Exchanges, folder: Path, *, most: int) -> Spread:
    """The pairs, in files by their answers: the answers of a file are before those of the next.

    `most`: how many owners may have a window that is still somebody's. Memory: a 64th part of what was met.

    Raises:
        OSError: the disk is full, or gone.
    """
    met = Spread(folder, "met", _MET)
    for batch in probes:
        rows = np.empty(batch.num_rows, _MET)
        rows["number"], rows["exchange"] = batch["number"].to_numpy(), ordinals(exchanges, places_of(batch))
        rows["in_prompt"] = batch["in_prompt"].to_numpy(zero_copy_only=False)
        met.add(rows, rows["number"] * FILES // max(1, len(index.hashes)))
    pairs = Spread(folder, "pairs", PAIR)
    for rows in met.files():
        some = _pairs(rows, index, exchanges, most)
        pairs.add(some, some["answer"].astype(np.int64) * FILES // max(1, len(exchanges)))
    met.remove()
    return pairs


def _pairs(rows: npt.NDArray[np.void], index: Index, exchanges: Exchanges, most: int) -> Pairs:
    """Each answer with each exchange that has a window of it, without those that cannot matter."""
    if not len(rows):
        return np.empty(0, PAIR)
    # of a crowd the first one stands for all: who asked, and the earliest of those
    rows = rows[np.lexsort((exchanges["began"][rows["exchange"]], ~rows["in_prompt"], rows["number"]))]
    firsts = np.r_[True, rows["number"][1:] != rows["number"][:-1]]
    crowds = _crowds(rows, np.cumsum(firsts) - 1, exchanges, most)
    kept = firsts | (crowds == 0)
    rows, crowds = rows[kept], crowds[kept]
    counts = index.counts(rows["number"])
    of_row = np.repeat(np.arange(len(rows)), counts)
    inside = np.arange(len(of_row)) - np.repeat(np.cumsum(counts) - counts, counts)
    postings = index.postings[index.begins[rows["number"][of_row]] + inside]
    pairs = np.empty(len(of_row), PAIR)
    pairs["answer"], pairs["at"], pairs["exchange"] = postings["answer"], postings["at"], rows["exchange"][of_row]
    pairs["in_prompt"], pairs["crowd"] = rows["in_prompt"][of_row], crowds[of_row]
    asked, answered = exchanges[pairs["exchange"]], exchanges[pairs["answer"]]
    is_own = (asked["owner"] == answered["owner"]) & (asked["owner"] != NOBODY)
    is_before = _is_before(asked, answered)
    matters = (~is_own | (pairs["in_prompt"] & is_before)) & (asked["place"] != answered["place"])
    pairs["is_own"] = is_own
    # of two answers the later one has it from the earlier, also where both were being written at once
    pairs["is_late"] = ~is_own & np.where(pairs["in_prompt"], asked["began"] >= answered["end"], ~is_before)
    return cast("Pairs", pairs[matters | (pairs["crowd"] != 0)])


def _crowds(rows: npt.NDArray[np.void], dense: Offsets, exchanges: Exchanges, most: int) -> npt.NDArray[np.uint8]:
    """Of each row, the kind of crowd that has its window. `dense`: the numbers of the windows, counted from 0."""
    at = rows["exchange"].astype(np.int64)
    owners = distinct_owners(exchanges, at)
    asked = rows["in_prompt"] & (exchanges["owner"][at] != NOBODY)
    by_asked = np.zeros(int(dense[-1]) + 1, np.int64)
    some = owners_per_number(dense[asked], owners[asked])
    by_asked[: len(some)] = some
    # the answer's own owner may be among them
    crowds = np.where(
        by_asked > most + 1, MANY_ASKED, np.where(owners_per_number(dense, owners) > COMMON_OWNERS, MANY, 0)
    )
    return crowds.astype(np.uint8)[dense]


def _is_before(one: Any, other: Any) -> npt.NDArray[np.bool_]:
    """By time, and by place where a log says no time or twice the same."""
    by_place = (one["began"] == other["began"]) | (one["began"] == NEVER_BEGAN) | (other["began"] == NEVER_BEGAN)
    return cast(
        "npt.NDArray[np.bool_]", np.where(by_place, one["place"] < other["place"], one["began"] < other["began"])
    )
