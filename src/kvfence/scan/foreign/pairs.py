"""Pairs of an answer and an exchange that have a window in common, made of what met."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kvfence.scan.foreign.index import COMMON_OWNERS, Index, distinct_owners, owners_per_number
from kvfence.scan.foreign.owners import NEVER_BEGAN, NOBODY, Exchanges
from kvfence.scan.foreign.windows import Offsets
from kvfence.scan.passing.passed import batches_in

ROWS_MAX = 64
"""So many exchanges with a window are all kept: the last one before an answer is the likeliest that it is from."""
ANSWERED_PER_ASKED = 4
"""So many more may have been answered what a prompt has."""
MET = np.dtype([("number", "<u4"), ("exchange", "<u4"), ("in_prompt", "?")])
"""A row of the second reading: see `probes.OUTPUT`."""
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

`is_own`: of the answer's owner, before it, or its own prompt. `is_late`: begun when the answer had ended. `crowd`: 0,
or this one stands for all of others that have the window, as they are more than any text of one owner has.
"""
PAIRS = pa.schema([pa.field(name, pa.from_numpy_dtype(PAIR[name]), nullable=False) for name in PAIR.names or ()])
MANY, MANY_ASKED = 1, 2
"""Kinds of crowds: of whomever, and of owners who have it in their prompts."""


def pairs_of(rows: npt.NDArray[np.void], index: Index, exchanges: Exchanges, most: int) -> Pairs:
    """Each answer with each exchange that has a window of it, without those that cannot matter; in the answers' order.

    `rows`: of `MET`, all of some windows; `most`: how many owners may have a window that is still somebody's.
    """
    if not len(rows):
        return np.empty(0, PAIR)
    rows = _thinned(rows, exchanges)
    firsts = np.r_[True, rows["number"][1:] != rows["number"][:-1]]
    crowds = _crowds(rows, np.cumsum(firsts) - 1, exchanges, most)
    is_alone = crowds == 0
    postings, of_row = _crossed(rows[firsts | is_alone], index)
    some = [_paired(postings, rows[firsts | is_alone][of_row], crowds[firsts | is_alone][of_row], exchanges)]
    if not is_alone.all():
        some.append(_owned(rows[~is_alone], index, exchanges))
    pairs = np.concatenate(some)
    return pairs[np.argsort(pairs["answer"], kind="stable")]


def table_of(pairs: Pairs) -> pa.RecordBatch:
    """The same as rows of `PAIRS`."""
    return pa.RecordBatch.from_arrays(
        [pa.array(np.ascontiguousarray(pairs[name])) for name in PAIRS.names], schema=PAIRS
    )


def pairs_in(paths: Sequence[Path], first: int, end: int) -> Pairs:
    """Those of the answers from `first` on and before `end`, from files that are each in the order of the answers."""
    found = [np.empty(0, PAIR)]
    for path in paths:
        for batch in batches_in(path):
            begin, stop = np.searchsorted(batch["answer"].to_numpy(), np.array((first, end), np.uint32))
            some = batch.slice(begin, stop - begin)
            pairs = np.empty(len(some), PAIR)
            for name in PAIRS.names:
                pairs[name] = some[name].to_numpy(zero_copy_only=False)
            found.append(pairs)
    return np.concatenate(found)


def _thinned(rows: npt.NDArray[np.void], exchanges: Exchanges) -> npt.NDArray[np.void]:
    """Of each window with very many rows the first and the last one of each owner, by time, prompts and answers each.

    In the order of the windows; of each, who asked comes first, and of those the earliest.
    """
    owners = distinct_owners(exchanges, rows["exchange"].astype(np.int64))
    began = exchanges["began"][rows["exchange"]]
    order = np.lexsort((began, owners, ~rows["in_prompt"], rows["number"]))
    rows, owners, began = rows[order], owners[order], began[order]
    other = (
        (rows["number"][1:] != rows["number"][:-1])
        | (rows["in_prompt"][1:] != rows["in_prompt"][:-1])
        | (owners[1:] != owners[:-1])
    )
    sizes = np.diff(np.flatnonzero(np.r_[True, rows["number"][1:] != rows["number"][:-1], True]))
    kept = np.r_[True, other] | np.r_[other, True] | (np.repeat(sizes, sizes) <= ROWS_MAX)
    rows, began = rows[kept], began[kept]
    return rows[np.lexsort((began, ~rows["in_prompt"], rows["number"]))]


def _crowds(rows: npt.NDArray[np.void], dense: Offsets, exchanges: Exchanges, most: int) -> npt.NDArray[np.uint8]:
    """Of each row, the kind of crowd that has its window. `dense`: the numbers of the windows, counted from 0."""
    at = rows["exchange"].astype(np.int64)
    owners = distinct_owners(exchanges, at)
    is_known = exchanges["owner"][at] != NOBODY
    asked, answered = rows["in_prompt"] & is_known, ~rows["in_prompt"] & is_known
    counts = np.zeros((2, int(dense[-1]) + 1), np.int64)
    for count, some in zip(counts, (asked, answered), strict=True):
        owners_of_some = owners_per_number(dense[some], owners[some])
        count[: len(owners_of_some)] = owners_of_some
    # one more than is allowed: the answer's own owner may be among them
    is_many = (owners_per_number(dense, owners) > COMMON_OWNERS) | (counts[1] > ANSWERED_PER_ASKED * most + 1)
    crowds = np.where(counts[0] > most + 1, MANY_ASKED, np.where(is_many, MANY, 0))
    return crowds.astype(np.uint8)[dense]


def _crossed(rows: npt.NDArray[np.void], index: Index) -> tuple[npt.NDArray[np.void], Offsets]:
    """The postings of the rows' windows, and the row that each belongs to."""
    counts = index.counts(rows["number"])
    of_row = np.repeat(np.arange(len(rows)), counts)
    inside = np.arange(len(of_row)) - np.repeat(np.cumsum(counts) - counts, counts)
    return index.postings[index.begins[rows["number"][of_row]] + inside], of_row


def _owned(rows: npt.NDArray[np.void], index: Index, exchanges: Exchanges) -> Pairs:
    """Of windows that crowds have, the answers with the prompts of their own owners."""
    rows = rows[rows["in_prompt"] & (exchanges["owner"][rows["exchange"]] != NOBODY)]
    if not len(rows):
        return np.empty(0, PAIR)
    firsts = np.r_[True, rows["number"][1:] != rows["number"][:-1]]
    postings, of_window = _crossed(rows[firsts], index)
    known = np.unique(exchanges["owner"])
    asked = _keys(rows["number"], exchanges["owner"][rows["exchange"]], known)
    answered = _keys(rows["number"][firsts][of_window], exchanges["owner"][postings["answer"]], known)
    order = np.argsort(asked, kind="stable")
    asked = asked[order]
    begins = np.searchsorted(asked, answered)
    counts = np.searchsorted(asked, answered, "right") - begins
    of_posting = np.repeat(np.arange(len(postings)), counts)
    inside = np.arange(len(of_posting)) - np.repeat(np.cumsum(counts) - counts, counts)
    own = rows[order[begins[of_posting] + inside]]
    return _paired(postings[of_posting], own, np.zeros(len(own), np.uint8), exchanges)


def _keys(numbers: Any, owners: Any, known: Any) -> Offsets:
    """A window and an owner as one number."""
    return cast("Offsets", (numbers.astype(np.int64) << 32) | np.searchsorted(known, owners))


def _paired(
    postings: npt.NDArray[np.void], rows: npt.NDArray[np.void], crowds: npt.NDArray[np.uint8], exchanges: Exchanges
) -> Pairs:
    """A pair for each posting with its row, without those that cannot matter."""
    pairs = np.empty(len(rows), PAIR)
    pairs["answer"], pairs["at"], pairs["exchange"] = postings["answer"], postings["at"], rows["exchange"]
    pairs["in_prompt"], pairs["crowd"] = rows["in_prompt"], crowds
    asked, answered = exchanges[pairs["exchange"]], exchanges[pairs["answer"]]
    is_own = (asked["owner"] == answered["owner"]) & (asked["owner"] != NOBODY)
    is_before = _is_before(asked, answered)
    is_same = pairs["exchange"] == pairs["answer"]
    matters = np.where(is_own | is_same, pairs["in_prompt"] & (is_before | is_same), ~is_same)
    pairs["is_own"] = is_own = is_own | is_same
    # of two answers the later one has it from the earlier, also where both were being written at once
    pairs["is_late"] = ~is_own & np.where(pairs["in_prompt"], asked["began"] >= answered["end"], ~is_before)
    return cast("Pairs", pairs[matters | (crowds != 0)])


def _is_before(one: Any, other: Any) -> npt.NDArray[np.bool_]:
    """By time, and by place where a log says no time or twice the same."""
    by_place = (one["began"] == other["began"]) | (one["began"] == NEVER_BEGAN) | (other["began"] == NEVER_BEGAN)
    return cast(
        "npt.NDArray[np.bool_]", np.where(by_place, one["place"] < other["place"], one["began"] < other["began"])
    )
