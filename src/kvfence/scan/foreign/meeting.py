"""Which exchanges must be read again, for which answer: the join of the two readings, by numbers alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kvfence.scan.foreign.index import COMMON_OWNERS, Index, distinct_owners, owners_per_number
from kvfence.scan.foreign.owners import NEVER_BEGAN, NEVER_ENDED, NOBODY, Exchanges, ordinals, places_of
from kvfence.scan.foreign.spread import FILES, Spread
from kvfence.scan.foreign.windows import ANSWER_STEP

COMMON_MIN, COMMON_MAX, COMMON_SHARE = 2, 4, 4
"""A stretch is common where more owners have it than a quarter of all, 2 at least and 4 at most. What is lost is
text that several have as well, and of which nobody can tell whose it was."""
ANSWERED_PER_ASKED = 4
"""So many more may have been answered what a prompt has."""
SOURCES_PER_OWNER = 3
SOURCES_MAX = 64
OWN_MAX = 8

_MET = np.dtype([("number", "<i8"), ("exchange", "<u4"), ("in_prompt", "?")])
_PAIR = np.dtype(
    [("answer", "<u4"), ("at", "<u4"), ("exchange", "<u4"), ("is_own", "?"), ("in_prompt", "?"), ("is_late", "?")]
)
_Pairs = npt.NDArray[np.void]
_ANYBODY = 2**32 - 1
"""In place of an exchange: too many have the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """An answer, and what may explain its windows. All are rows of the table of exchanges."""

    answer: int
    sources: tuple[int, ...]
    """Of others, begun before it ended."""
    own: tuple[int, ...]
    """Of its owner, begun before it: what stands in one of them is no surprise."""
    common: tuple[int, ...]
    """Bytes of the answer where windows begin that too many have."""


def owners_allowed(exchanges: Exchanges) -> int:
    """How many owners may have a stretch that is still somebody's.

    Requests that name none are counted as one each; the turns of one conversation are told when texts are read.
    """
    known = np.unique(exchanges["owner"])
    owners = int((known != NOBODY).sum()) + int((exchanges["owner"] == NOBODY).sum())
    return max(COMMON_MIN, min(COMMON_MAX, owners // COMMON_SHARE))


def meetings(probes: Iterable[pa.RecordBatch], index: Index, exchanges: Exchanges, folder: Path) -> Iterator[Meeting]:
    """In the order of the answers.

    Memory: a 64th part of what was met, and what is left of it without the windows that many have.
    """
    spread = Spread(folder, "met", _MET)
    for batch in probes:
        rows = np.empty(batch.num_rows, _MET)
        rows["number"], rows["exchange"] = batch["number"].to_numpy(), ordinals(exchanges, places_of(batch))
        rows["in_prompt"] = batch["in_prompt"].to_numpy(zero_copy_only=False)
        spread.add(rows, rows["number"] * FILES // max(1, len(index.hashes)))
    parts = [_joined(rows, index, exchanges) for rows in spread.files()]
    spread.remove()
    has_foreign = np.zeros(len(exchanges), np.bool_)
    for pairs in parts:
        has_foreign[pairs["answer"][~pairs["is_own"] & ~pairs["is_late"]]] = True
    pairs = np.concatenate([pairs[has_foreign[pairs["answer"]]] for pairs in parts])
    pairs = pairs[np.lexsort((pairs["exchange"], pairs["at"], pairs["answer"]))]
    cuts = np.flatnonzero(pairs["answer"][1:] != pairs["answer"][:-1]) + 1
    for of_one in np.split(pairs, cuts) if len(pairs) else ():
        meeting = _meeting(of_one, exchanges, owners_allowed(exchanges))
        if meeting:
            yield meeting


def _joined(rows: npt.NDArray[np.void], index: Index, exchanges: Exchanges) -> _Pairs:
    """Each answer with each exchange that has a window of it, without those that cannot matter."""
    rows = rows[np.argsort(rows["number"], kind="stable")]
    firsts = np.r_[True, rows["number"][1:] != rows["number"][:-1]] if len(rows) else np.empty(0, np.bool_)
    dense = np.cumsum(firsts) - 1
    owners = owners_per_number(dense, distinct_owners(exchanges, rows["exchange"].astype(np.int64)))
    too_many = owners[dense] > COMMON_OWNERS if len(rows) else np.empty(0, np.bool_)
    counts = index.counts(rows["number"])
    counts[too_many & ~firsts] = 0  # of a common window one row is enough to say that it is
    of_row = np.repeat(np.arange(len(rows)), counts)
    inside = np.arange(len(of_row)) - np.repeat(np.cumsum(counts) - counts, counts)
    postings = index.postings[index.begins[rows["number"][of_row]] + inside]
    pairs = np.empty(len(of_row), _PAIR)
    pairs["answer"], pairs["at"], pairs["exchange"] = postings["answer"], postings["at"], rows["exchange"][of_row]
    asked, answered = exchanges[pairs["exchange"]], exchanges[pairs["answer"]]
    pairs["is_own"] = (asked["owner"] == answered["owner"]) & (asked["owner"] != NOBODY)
    is_own, is_common = pairs["is_own"], too_many[of_row]
    in_prompt, is_before = rows["in_prompt"][of_row], _is_before(asked, answered)
    kept = (~is_own | (in_prompt & is_before)) & (asked["place"] != answered["place"])
    pairs["in_prompt"] = in_prompt
    # of two answers the later one has it from the earlier, also where both were being written at once
    pairs["is_late"] = ~is_own & ~is_common & np.where(in_prompt, asked["began"] >= answered["end"], ~is_before)
    pairs["exchange"][is_common] = _ANYBODY
    return cast("_Pairs", pairs[kept | is_common])


def _is_before(one: Exchanges, other: Exchanges) -> npt.NDArray[np.bool_]:
    """By time, and by place where a log says no time or twice the same."""
    by_place = (one["began"] == other["began"]) | (one["began"] == NEVER_BEGAN) | (other["began"] == NEVER_BEGAN)
    return np.where(by_place, one["place"] < other["place"], one["began"] < other["began"])


def _meeting(pairs: _Pairs, exchanges: Exchanges, most: int) -> Meeting | None:
    """Of one answer, whose windows are in order; None where nothing of others is left."""
    of_all = pairs["exchange"] == _ANYBODY
    common = {*pairs["at"][of_all].tolist()}
    foreign = pairs[~of_all & ~pairs["is_own"]]
    common |= _windows_of_many(foreign, exchanges, most)
    foreign = foreign[~foreign["is_late"]]
    ats = foreign["at"].astype(np.int64)
    owners = distinct_owners(exchanges, foreign["exchange"].astype(np.int64))
    left = ~np.isin(ats, [*common])
    if not left.any():
        return None
    by_exchange = _windows_of(foreign[left])
    sources = _chosen(by_exchange, dict(zip(foreign["exchange"].tolist(), owners.tolist(), strict=True)), exchanges)
    near = {at + step for at in ats[left].tolist() for step in (-ANSWER_STEP, 0, ANSWER_STEP)}
    own = pairs[pairs["is_own"] & ~of_all]
    by_own = _windows_of(own[np.isin(own["at"], [*near])])
    return Meeting(
        answer=int(pairs["answer"][0]),
        sources=tuple(sorted(sources)),
        own=tuple(sorted(_covering(by_own, exchanges, OWN_MAX))),
        common=tuple(sorted(common)),
    )


def _windows_of_many(foreign: _Pairs, exchanges: Exchanges, most: int) -> set[int]:
    """Windows that too many have, before or after.

    What leaked from one prompt may have leaked into several answers; not so what stood in an answer before.
    """
    is_known = exchanges["owner"][foreign["exchange"]] != NOBODY
    asked, asked_unknown, answered, answered_unknown = (
        _owners_of_windows(foreign[(foreign["in_prompt"] == in_prompt) & (is_known == known)], exchanges)
        for in_prompt in (True, False)
        for known in (True, False)
    )
    first_asked = _firsts(foreign[foreign["in_prompt"]], exchanges)
    first_answered = _firsts(foreign[~foreign["in_prompt"]], exchanges)
    of_many = {at for at, count in asked.items() if count > most}
    of_many |= {at for some in (asked_unknown, answered_unknown) for at, count in some.items() if count > COMMON_OWNERS}
    for at, count in answered.items():
        asked_first = min(first_asked.get(at + step, NEVER_ENDED) for step in (-ANSWER_STEP, 0, ANSWER_STEP))
        if count > (ANSWERED_PER_ASKED * most if asked_first <= first_answered[at] else most):
            of_many.add(at)
    return of_many


def _firsts(foreign: _Pairs, exchanges: Exchanges) -> dict[int, int]:
    """When each window was there for the first time."""
    firsts: dict[int, int] = {}
    began = exchanges["began"][foreign["exchange"]]
    for at, when in zip(foreign["at"].tolist(), began.tolist(), strict=True):
        firsts[at] = min(when, firsts.get(at, NEVER_ENDED))
    return firsts


def _owners_of_windows(foreign: _Pairs, exchanges: Exchanges) -> dict[int, int]:
    """How many have each window and one beside it: whoever has both hit one, as theirs begin at every second byte."""
    owners = distinct_owners(exchanges, foreign["exchange"].astype(np.int64))
    by_window: dict[int, set[int]] = {}
    for at, owner in zip(foreign["at"].tolist(), owners.tolist(), strict=True):
        by_window.setdefault(at, set()).add(owner)
    return {
        at: max(len(some | by_window.get(at + step, set())) for step in (-ANSWER_STEP, ANSWER_STEP))
        for at, some in by_window.items()
    }


def _windows_of(pairs: _Pairs) -> dict[int, set[int]]:
    windows: dict[int, set[int]] = {}
    for exchange, at in zip(pairs["exchange"].tolist(), pairs["at"].tolist(), strict=True):
        windows.setdefault(exchange, set()).add(at)
    return windows


def _chosen(by_exchange: dict[int, set[int]], owners: dict[int, int], exchanges: Exchanges) -> list[int]:
    """Of each owner the few exchanges that have the most of it."""
    by_owner: dict[int, dict[int, set[int]]] = {}
    for exchange, windows in by_exchange.items():
        by_owner.setdefault(owners[exchange], {})[exchange] = windows
    by_size = sorted(by_owner.values(), key=lambda some: -len(set().union(*some.values())))
    return [one for some in by_size for one in _covering(some, exchanges, SOURCES_PER_OWNER)][:SOURCES_MAX]


def _covering(by_exchange: dict[int, set[int]], exchanges: Exchanges, most: int) -> Iterable[int]:
    """The exchange with most windows, of several the latest; then the one with most of the rest."""
    left = {exchange: {*windows} for exchange, windows in by_exchange.items()}
    while left and most:
        best = max(left, key=lambda one: (len(left[one]), int(exchanges["began"][one]), one))
        if not left[best]:
            return
        yield best
        most -= 1
        covered = {at + step for at in left.pop(best) for step in (-ANSWER_STEP, 0, ANSWER_STEP)}
        left = {exchange: windows - covered for exchange, windows in left.items()}
