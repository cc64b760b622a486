"""What PyTorch takes from the GPU to hold tensors: whole segments, so more than their bytes.

PyTorch 2.9 `c10/core/AllocatorConfig.h` and `c10/cuda/CUDACachingAllocator.cpp` (`get_pool`, `get_allocation_size`,
`should_split`; the same sizes since 1.13): up to 1 MiB from segments of 2 MiB, below 10 MiB from segments of 20 MiB,
larger ones in steps of 2 MiB; the best fit first, and a rest is kept for others where it is worth it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

MIB = 1 << 20
BLOCK = 512
SMALL = MIB
SMALL_SEGMENT = 2 * MIB
LARGE = 10 * MIB
LARGE_SEGMENT = 20 * MIB
STEP = 2 * MIB
SIMULATED_MAX = 2048
"""Tensors that are laid out one by one; layers repeat, so the rest is like these."""


def reserved(sizes: Iterable[int]) -> int:
    """Bytes of the segments that hold these tensors, allocated in order and kept."""
    pools = {True: _Pool(BLOCK), False: _Pool(SMALL + 1)}
    asked = [size for size in sizes if size > 0]
    laid = asked[:SIMULATED_MAX]
    for size in laid:
        pools[size <= SMALL].take(-(-size // BLOCK) * BLOCK)
    taken = sum(pool.segments for pool in pools.values())
    return taken if len(laid) == len(asked) else sum(asked) * taken // sum(laid)


class _Pool:
    """Segments of one kind, and the free blocks in them."""

    def __init__(self, rest_min: int) -> None:
        self.segments = 0
        self._free: list[int] = []
        self._rest_min = rest_min

    def take(self, size: int) -> None:
        at = bisect_left(self._free, size)
        if at < len(self._free):
            block = self._free.pop(at)
        else:
            block = _segment(size)
            self.segments += block
        if block - size >= self._rest_min:
            insort(self._free, block - size)


def _segment(size: int) -> int:
    if size <= SMALL:
        return SMALL_SEGMENT
    if size < LARGE:
        return LARGE_SEGMENT
    return -(-size // STEP) * STEP
