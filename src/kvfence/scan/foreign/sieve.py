"""Whether a hash may be one of many: a byte is looked up for each, so that few have to be searched for."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import cast

import numpy as np

from kvfence.scan.foreign.spread import private
from kvfence.scan.foreign.windows import Hashes, Octets, Offsets

BYTES_LOG2_MIN = 16
BYTES_LOG2_MAX = 28
"""256 MiB at most, shared by all processes: still 3 bytes for each of 80 million hashes."""
BYTES_PER_HASH = 4
_AT_ONCE = 1 << 20
_PATTERNS = np.array([1 << one | 1 << other for one, other in combinations(range(8), 2)] + [3, 5, 6, 9], np.uint8)
"""Two bits of a byte, by five bits of a hash: what shares a byte with another hash seldom shares both bits."""


class Sieve:
    """Lets through all hashes that are in it, and about one in a hundred of the others."""

    def __init__(self, table: Octets) -> None:
        self._table = table
        self._shift = np.uint64(64 - (len(table).bit_length() - 1))

    def through(self, hashes: Hashes) -> Offsets:
        """Which of these may be in it."""
        met = self._table.take((hashes >> self._shift).view(np.int64), mode="clip")
        some = np.flatnonzero(met != 0)
        patterns = _pattern(hashes[some])
        return cast("Offsets", some[(met[some] & patterns) == patterns])


def write_sieve(hashes: Hashes, path: Path) -> None:
    """Make the table of these sorted hashes, and write it."""
    log2 = min(BYTES_LOG2_MAX, max(BYTES_LOG2_MIN, (len(hashes) * BYTES_PER_HASH).bit_length()))
    table = np.zeros(1 << log2, np.uint8)
    for begin in range(0, len(hashes), _AT_ONCE):
        some = np.asarray(hashes[begin : begin + _AT_ONCE])
        slots = (some >> np.uint64(64 - log2)).view(np.int64)
        firsts = np.flatnonzero(np.r_[True, slots[1:] != slots[:-1]])
        table[slots[firsts]] |= np.bitwise_or.reduceat(_pattern(some), firsts)
    table.tofile(private(path))


def read_sieve(path: Path) -> Sieve:
    """The sieve that was written there, mapped."""
    return Sieve(np.asarray(np.memmap(path, np.uint8, "r")))


def _pattern(hashes: Hashes) -> Octets:
    return _PATTERNS[((hashes >> np.uint64(20)) & np.uint64(31)).view(np.int64)]
