"""Which exchanges must be read again, for which answer: told from the pairs of the join."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kvfence.scan.foreign.crowds import answers_and_bytes, windows_of, windows_of_many
from kvfence.scan.foreign.index import distinct_owners
from kvfence.scan.foreign.owners import Exchanges
from kvfence.scan.foreign.pairs import Pairs
from kvfence.scan.foreign.windows import ANSWER_STEP, Offsets

SOURCES_PER_OWNER = 3
SOURCES_MAX = 64
OWN_MAX = 8


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


def meetings(pairs: Pairs, exchanges: Exchanges, most: int) -> Iterator[Meeting]:
    """Of all pairs of some answers, in the order of the answers. `most`: how many owners may have one's text."""
    is_foreign = (pairs["crowd"] == 0) & ~pairs["is_own"]
    pairs = pairs[np.isin(pairs["answer"], pairs["answer"][is_foreign & ~pairs["is_late"]])]
    pairs = pairs[np.lexsort((pairs["exchange"], pairs["at"], pairs["answer"]))]
    common = windows_of_many(pairs, exchanges, most)
    own = pairs[pairs["is_own"] & (pairs["crowd"] == 0)]
    known = np.union1d(common, _standing_in_own(own))
    is_new = (pairs["crowd"] == 0) & ~pairs["is_own"] & ~pairs["is_late"] & ~np.isin(windows_of(pairs), known)
    own = own[own["exchange"] != own["answer"]]  # its own prompt is looked at in any case
    of_common, common_at = answers_and_bytes(common)
    for new in _by_answer(pairs[is_new]):
        answer = int(new["answer"][0])
        near = {at + step for at in new["at"].tolist() for step in (-ANSWER_STEP, 0, ANSWER_STEP)}
        of_owner = own[slice(*np.searchsorted(own["answer"], (answer, answer + 1)))]
        by_own = _bytes_of(of_owner[np.isin(of_owner["at"], [*near])])
        yield Meeting(
            answer=answer,
            sources=tuple(sorted(_chosen(new, exchanges))),
            own=tuple(sorted(_covering(by_own, exchanges, OWN_MAX))),
            common=tuple(common_at[slice(*np.searchsorted(of_common, (answer, answer + 1)))].tolist()),
        )


def _standing_in_own(own: Pairs) -> Offsets:
    """Windows all bytes of which stand in one prompt of the answer's owner: it has them, or those on both sides.

    A stretch that is reported has two windows in a row that no own prompt explains, so that none is lost here.
    """
    windows = windows_of(own)
    by_exchange = np.stack([own["exchange"].astype(np.int64), windows], axis=1)
    there = {*map(tuple, by_exchange.tolist())}
    between = [at + ANSWER_STEP for one, at in there if (one, at + 2 * ANSWER_STEP) in there]
    return np.unique(np.concatenate([windows, np.array(between, np.int64)]))


def _by_answer(pairs: Pairs) -> Iterator[Pairs]:
    cuts = np.flatnonzero(pairs["answer"][1:] != pairs["answer"][:-1]) + 1
    return iter(np.split(pairs, cuts) if len(pairs) else ())


def _bytes_of(pairs: Pairs) -> dict[int, set[int]]:
    """Where in the answer the windows of each exchange begin."""
    windows: dict[int, set[int]] = {}
    for exchange, at in zip(pairs["exchange"].tolist(), pairs["at"].tolist(), strict=True):
        windows.setdefault(exchange, set()).add(at)
    return windows


def _chosen(pairs: Pairs, exchanges: Exchanges) -> list[int]:
    """Of each owner the few exchanges that have the most of the answer."""
    rows: Offsets = pairs["exchange"].astype(np.int64)
    owners = dict(zip(rows.tolist(), distinct_owners(exchanges, rows).tolist(), strict=True))
    by_owner: dict[int, dict[int, set[int]]] = {}
    for exchange, windows in _bytes_of(pairs).items():
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
