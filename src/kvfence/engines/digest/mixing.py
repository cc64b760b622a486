"""What binds a unit's hash to its place in the model and in the prompt: 64-bit arithmetic over whole arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
HIGH = 0x9E3779B97F4A7C15
"""Added before the upper half is mixed, so that halves that are equal do not stay equal."""
UNIT_BYTES_MIN = 256
"""A shorter unit is followed by zeros up to here: one path of XXH3 instead of six."""


def seed_of(binding: bytes, *, key: bytes) -> int:
    """The 64-bit seed of one handoff: of what it is bound to, under a key of 16 to 64 bytes that no client knows."""
    return int.from_bytes(
        hashlib.blake2b(binding, key=key, digest_size=8, person=b"kvfence digest 1").digest(), "little"
    )


def mixed(words: Words) -> Words:
    """A bijection in which every bit depends on every bit (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        words = (words ^ (words >> np.uint64(30))) * np.uint64(MIX_1)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(MIX_2)
    return words ^ (words >> np.uint64(31))


def place_of(seed: int, *, layer: int, heads: Words, page: Words, tokens: Words) -> Words:
    """One word a unit from where it stands; the arrays are broadcast against one another."""
    place = np.array([seed], dtype=np.uint64)
    for field in (np.array([layer], dtype=np.uint64), heads, page, tokens):
        place = mixed(place ^ field)
    return place


def bound(low: Words, high: Words, place: Words) -> tuple[Words, Words]:
    """A unit's hash, bound to its place."""
    with np.errstate(over="ignore"):
        return mixed(low ^ place), mixed((high ^ place) + np.uint64(HIGH))


def summed(shares: Sequence[Sequence[tuple[int, int]]]) -> tuple[tuple[int, int], ...]:
    """The digests of pages from the shares of layers and ranks: each half is a sum modulo 2**64."""
    return tuple(
        (sum(low for low, _ in page) % 2**64, sum(high for _, high in page) % 2**64)
        for page in zip(*shares, strict=True)
    )
