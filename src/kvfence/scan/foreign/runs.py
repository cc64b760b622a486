"""What two texts have in common, byte by byte. Windows that are hashed alike are compared before anything is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kvfence.scan.foreign.windows import (
    ANSWER_STEP,
    PROBE_STEP,
    WINDOW_BYTES,
    Hashes,
    Hashing,
    Octets,
    Offsets,
    octets_of,
    repeats,
)

ALIKE_MAX = 4
"""Windows of one answer that are the same: so many are followed, as a text that repeats itself has thousands."""
PLACES_MAX = 32
"""The same for the places in the other text where one window stands."""
_STRIDE = 512
_AMONG_BITS = 18
"""A table of so many bits tells quickly what need not be searched for."""


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """A stretch that stands in both, as long as it is the same in both. In bytes."""

    at: int
    """In the answer."""
    source_at: int
    size: int

    @property
    def end(self) -> int:
        """In the answer."""
        return self.at + self.size


def shared_runs(answer: bytes, text: bytes, hashing: Hashing) -> list[Run]:
    """All runs of `windows.RUN_BYTES_MIN` and more, and some shorter ones; by where they begin."""
    ours, theirs = octets_of(answer), octets_of(text)
    runs: list[Run] = []
    ends: dict[int, int] = {}
    for at, source_at in _alike(ours, theirs, hashing, ANSWER_STEP):
        diagonal = source_at - at
        if at + WINDOW_BYTES <= ends.get(diagonal, 0):
            continue
        if answer[at : at + WINDOW_BYTES] == text[source_at : source_at + WINDOW_BYTES]:
            before = _same_before(ours[:at], theirs[:source_at])
            behind = _same_behind(ours[at:], theirs[source_at:])
            runs.append(Run(at - before, source_at - before, before + behind))
            ends[diagonal] = at + behind
    return _outermost(runs)


def _outermost(runs: list[Run]) -> list[Run]:
    """Those that do not lie in another one, on the side of the answer; by where they begin."""
    kept: list[Run] = []
    for run in sorted(runs, key=lambda one: (one.at, -one.size, one.source_at)):
        if not kept or run.end > kept[-1].end:
            kept.append(run)
    return kept


def standing_in(stretch: bytes, text: bytes, hashing: Hashing) -> npt.NDArray[np.bool_]:
    """Which bytes of a stretch belong to a run of 32 bytes or more that stands in the text as well."""
    held = np.zeros(len(stretch), np.bool_)
    if len(stretch) < WINDOW_BYTES:
        return held
    ours, theirs = octets_of(stretch), octets_of(text)
    hashes = hashing.at(ours, np.arange(len(ours) - WINDOW_BYTES + 1))
    ordered = np.sort(hashes)
    ordered = ordered[np.r_[True, ordered[1:] != ordered[:-1]]]
    place_of = np.full(len(ordered), -1)
    for numbers, places in _looked_up(theirs, hashing, ordered, 1):
        place_of[numbers] = places
    places = place_of[np.searchsorted(ordered, hashes)]
    at = np.flatnonzero(places >= 0)
    for some in np.array_split(at, len(at) // _STRIDE + 1):
        ends = np.arange(WINDOW_BYTES)
        same = (ours[some[:, None] + ends] == theirs[places[some][:, None] + ends]).all(axis=1)
        held[(some[same][:, None] + ends).ravel()] = True
    return held


def _alike(ours: Octets, theirs: Octets, hashing: Hashing, step: int) -> Iterator[tuple[int, int]]:
    """Where windows of the same hash begin, in our order; ours at every `step`-th byte, theirs at every second."""
    if len(ours) < WINDOW_BYTES:
        return
    offsets = np.arange(0, len(ours) - WINDOW_BYTES + 1, step)
    hashes = hashing.at(ours, offsets)
    order = np.argsort(hashes, kind="stable")
    ordered, offsets = hashes[order], offsets[order]
    pairs = list(_looked_up(theirs, hashing, ordered, PROBE_STEP))
    if not pairs:
        return
    firsts, places = (np.concatenate(column) for column in zip(*pairs, strict=True))
    by_window = np.argsort(firsts, kind="stable")
    firsts, places = firsts[by_window], places[by_window]
    few = np.arange(len(firsts)) - np.searchsorted(firsts, firsts) < PLACES_MAX
    firsts, places = firsts[few], places[few]
    found: list[tuple[Offsets, Offsets]] = []
    for more in range(ALIKE_MAX):
        there = np.minimum(firsts + more, len(ordered) - 1)
        same = (ordered[there] == ordered[firsts]) & (firsts + more < len(ordered))
        found.append((offsets[there[same]], places[same]))
    at, source_at = (np.concatenate(column) for column in zip(*found, strict=True))
    by_place = np.lexsort((source_at, at))
    yield from zip(at[by_place].tolist(), source_at[by_place].tolist(), strict=True)


def _looked_up(theirs: Octets, hashing: Hashing, ordered: Hashes, step: int) -> Iterator[tuple[Offsets, Offsets]]:
    """Of windows of theirs that are among the ordered hashes: the first of them, and where they begin."""
    among = np.zeros(1 << _AMONG_BITS, np.bool_)
    shift = np.uint64(64 - _AMONG_BITS)
    among[(ordered >> shift).view(np.int64)] = True
    for first, some in hashing.every(theirs, step):
        maybe = np.flatnonzero(among.take((some >> shift).view(np.int64), mode="clip"))
        at = np.minimum(np.searchsorted(ordered, some[maybe]), len(ordered) - 1)
        is_known = ordered[at] == some[maybe]
        at, known = at[is_known], maybe[is_known]
        new = ~repeats(some, known)
        if new.any():
            yield at[new], first + step * known[new]


def _same_behind(one: Octets, other: Octets) -> int:
    """How many bytes are the same from the beginning on."""
    size = min(len(one), len(other))
    stride, at = _STRIDE, 0
    while at < size:
        end = min(at + stride, size)
        differ = np.flatnonzero(one[at:end] != other[at:end])
        if len(differ):
            return at + int(differ[0])
        at, stride = end, stride * 2
    return size


def _same_before(one: Octets, other: Octets) -> int:
    """How many bytes are the same from the end on, backwards."""
    return _same_behind(one[::-1], other[::-1])
