"""Which windows of answers too many owners have: whose text it was cannot be told of them."""

from __future__ import annotations

from typing import cast

import numpy as np

from kvfence.scan.foreign.index import COMMON_OWNERS, distinct_owners
from kvfence.scan.foreign.owners import NEVER_ENDED, NOBODY, Exchanges
from kvfence.scan.foreign.pairs import ANSWERED_PER_ASKED, MANY_ASKED, Pairs
from kvfence.scan.foreign.windows import ANSWER_STEP, Hashes, Offsets

_AT_BITS = 32
_NEAR = (-ANSWER_STEP, 0, ANSWER_STEP)


def windows_of(pairs: Pairs) -> Offsets:
    """The answer and the byte of it as one number, which keeps the order of both; bytes may be added to it."""
    return cast("Offsets", (pairs["answer"].astype(np.int64) << _AT_BITS) | pairs["at"])


def answers_and_bytes(windows: Offsets) -> tuple[Offsets, Offsets]:
    """The two again."""
    return windows >> _AT_BITS, windows & (2**_AT_BITS - 1)


def windows_of_many(pairs: Pairs, exchanges: Exchanges, most: int) -> Offsets:
    """Windows that too many have, before or after, in their order.

    What leaked from one prompt may have leaked into several answers; not so what stood in an answer before.
    `most`: how many owners may have one that is still somebody's.
    """
    crowds = pairs[pairs["crowd"] != 0]
    foreign = pairs[(pairs["crowd"] == 0) & ~pairs["is_own"]]
    is_known = exchanges["owner"][foreign["exchange"]] != NOBODY
    in_prompt = foreign["in_prompt"]
    asked, asked_by = _owners_of_windows(foreign[in_prompt & is_known], exchanges)
    answered, answered_by = _owners_of_windows(foreign[~in_prompt & is_known], exchanges)
    beside = windows_of(crowds[crowds["crowd"] == MANY_ASKED])
    of_many = [
        windows_of(crowds),
        asked[(asked_by > most) | np.isin(asked, np.concatenate([beside + step for step in _NEAR]))],
        answered[answered_by > _allowed(answered, foreign, crowds, exchanges, most)],
    ]
    for some in (foreign[in_prompt & ~is_known], foreign[~in_prompt & ~is_known]):
        windows, owners = _owners_of_windows(some, exchanges)
        of_many.append(windows[owners > COMMON_OWNERS])
    return np.unique(np.concatenate(of_many))


def _allowed(answered: Offsets, foreign: Pairs, crowds: Pairs, exchanges: Exchanges, most: int) -> Offsets:
    """How many may have been answered each of these windows: more where one had asked it before."""
    asked = np.concatenate([foreign[foreign["in_prompt"]], crowds[crowds["in_prompt"]]])
    first_asked = np.min([_firsts(answered + step, asked, exchanges) for step in _NEAR], axis=0)
    first_answered = _firsts(answered, foreign[~foreign["in_prompt"]], exchanges)
    return np.where(first_asked <= first_answered, ANSWERED_PER_ASKED * most, most)


def _firsts(windows: Offsets, pairs: Pairs, exchanges: Exchanges) -> Offsets:
    """When each of these windows was there for the first time; `NEVER_ENDED` where it never was."""
    if not len(pairs):
        return np.full(len(windows), NEVER_ENDED)
    of_pairs, began = windows_of(pairs), exchanges["began"][pairs["exchange"]]
    order = np.lexsort((began, of_pairs))
    of_pairs, began = of_pairs[order], began[order]
    at = np.minimum(np.searchsorted(of_pairs, windows), len(of_pairs) - 1)
    return np.where(of_pairs[at] == windows, began[at], NEVER_ENDED)


def _owners_of_windows(foreign: Pairs, exchanges: Exchanges) -> tuple[Offsets, Offsets]:
    """The windows in their order, and how many owners have each and one beside it.

    Whoever has both hit one, as theirs begin at every second byte.
    """
    of_pairs = windows_of(foreign)
    owners = distinct_owners(exchanges, foreign["exchange"].astype(np.int64))
    windows = np.unique(of_pairs)
    if not len(windows):
        return windows, windows
    most = np.zeros(len(windows), np.int64)
    for step in (-ANSWER_STEP, ANSWER_STEP):
        beside = of_pairs + step
        at = np.minimum(np.searchsorted(windows, beside), len(windows) - 1)
        there = windows[at] == beside
        numbers = np.concatenate([np.searchsorted(windows, of_pairs), at[there]])
        np.maximum(most, _distinct(numbers, np.concatenate([owners, owners[there]]), len(windows)), out=most)
    return windows, most


def _distinct(numbers: Offsets, owners: Hashes, count: int) -> Offsets:
    """How many different owners each of so many numbers has."""
    order = np.lexsort((owners, numbers))
    numbers, owners = numbers[order], owners[order]
    is_new = np.r_[True, (numbers[1:] != numbers[:-1]) | (owners[1:] != owners[:-1])]
    return np.bincount(numbers[is_new], minlength=count)
