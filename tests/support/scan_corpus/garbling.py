"""What becomes of a stretch on its way into somebody else's answer, and how much of it is still the same."""

from __future__ import annotations

import random
import re

from support.scan_corpus.plan import Garbling
from support.scan_corpus.words import Words

_WEIGHTS = {
    Garbling.VERBATIM: 50,
    Garbling.DROPPED: 14,
    Garbling.RECASED: 8,
    Garbling.TRANSLATED: 8,
    Garbling.INTERLEAVED: 20,
}
_DROP_EVERY = (3, 7, 16, 40, 120)
_PIECES = (24, 48, 70, 130, 400)
"""Bytes of each in turn, where two texts are interleaved."""
_LIKELY_BYTES = 16


def drawn(chance: random.Random) -> Garbling:
    """One of them."""
    return chance.choices([*_WEIGHTS], [*_WEIGHTS.values()])[0]


def garbled(stretch: str, how: Garbling, chance: random.Random, words: Words) -> str:
    """The stretch, as it stands in the answer."""
    match how:
        case Garbling.VERBATIM:
            return stretch
        case Garbling.DROPPED:
            every = chance.choice(_DROP_EVERY)
            parts = re.split(r"(\s+)", stretch)
            return "".join(part for at, part in enumerate(parts) if at % 2 or at // 2 % every != every - 1)
        case Garbling.RECASED:
            return re.sub(r"\s+", "  ", stretch.swapcase())
        case Garbling.TRANSLATED:
            return words.translated(stretch)
        case Garbling.INTERLEAVED:
            piece = chance.choice(_PIECES)
            own = words.prose(len(stretch) + piece)
            starts = range(0, len(stretch), piece)
            return "".join(f"{stretch[at : at + piece]}\n{own[at : at + piece]}\n" for at in starts)


def longest_shared(one: str, other: str) -> int:
    """Bytes of the longest stretch that stands in both: by doubling, then halving."""
    ours, theirs = one.encode(), other.encode()
    if ours in theirs:
        return len(ours)
    low, high = 0, _LIKELY_BYTES
    while share(ours, theirs, high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if share(ours, theirs, middle) else (low, middle)
    return low


def share(one: bytes, other: bytes, size: int) -> bool:
    """Whether a stretch of so many bytes stands in both. Memory: a number for each byte of the first."""
    windows = {hash(one[at : at + size]) for at in range(len(one) - size + 1)}
    return any(hash(other[at : at + size]) in windows for at in range(len(other) - size + 1))
