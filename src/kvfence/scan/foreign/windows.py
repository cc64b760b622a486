"""Hashes of windows of 32 bytes, and how densely they are taken on each side. Nothing here knows of requests.

A window begins at every 15th byte of an answer and at every second byte of what it is met with. As 15 and 2 have no
common divisor, any 30 windows in a row of a shared run have one that both sides took: a run of 32 + 15 * 2 - 1 = 61
bytes is always met, wherever it begins. It has two windows of the answer in a row, which is asked for as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pyarrow as pa

WINDOW_BYTES = 32
ANSWER_STEP = 15
PROBE_STEP = 2
RUN_BYTES_MIN = WINDOW_BYTES + ANSWER_STEP * PROBE_STEP - 1
"""Every shared run that is as long as this is met."""

Hashes = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]

_WORD_BYTES = 8
_CHUNK = 8192
"""Windows hashed at once: the arrays in between stay in a core's cache."""
_HALF = np.uint64(32)
_SAME_AROUND = 8
"""Where the hash is the same so many windows before and behind, the text repeats itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashing:
    """A keyed hash of 64 bits: without the key, a hash that was kept says nothing of a text."""

    key: int
    """Of 64 bits."""
    bits: int = 64
    """How many of the highest are kept: fewer only to see what happens where different windows are hashed alike."""

    def at(self, text: Octets, offsets: Offsets) -> Hashes:
        """Of the windows that begin there; each must end inside the text."""
        if not len(offsets):
            return np.empty(0, np.uint64)
        words = np.ndarray((len(text) - _WORD_BYTES + 1,), "<u8", text, 0, (1,))
        first, second, third, fourth = (words[offsets + _WORD_BYTES * number] for number in range(4))
        one, two, three, four = _factors(self.key)
        first, second, third, fourth = (_mixed(word * one) for word in (first, second, third, fourth))
        left, right = _mixed(second * two + first), _mixed(fourth * two + third)
        return self._kept((right * three + left) * four)

    def every(self, text: Octets, step: int) -> Iterator[tuple[int, Hashes]]:
        """Of the windows that begin at every `step`-th byte (1, 2, 4 or 8), some at a time.

        Where the first of them begins, and their hashes, which are overwritten when the next come.
        """
        count = (len(text) - WINDOW_BYTES) // step + 1 if len(text) >= WINDOW_BYTES else 0
        scratch = tuple(np.empty(_CHUNK + 3 * _WORD_BYTES, np.uint64) for _ in range(3))
        for begin in range(0, count, _CHUNK):
            yield begin * step, self._some(text, begin * step, min(_CHUNK, count - begin), step, scratch)

    def _some(self, text: Octets, first: int, count: int, step: int, scratch: tuple[Hashes, ...]) -> Hashes:
        """Like `at`, with each word and each pair of words mixed once for all the windows that have it."""
        one, two, three, four = _factors(self.key)
        word = _WORD_BYTES // step
        words, pairs, other = scratch
        words, shifted = words[: count + 3 * word], other[: count + 3 * word]
        np.multiply(np.ndarray((len(words),), "<u8", text, first, (step,)), one, out=words)
        np.right_shift(words, _HALF, out=shifted)
        np.bitwise_xor(words, shifted, out=words)
        pairs, shifted = pairs[: count + 2 * word], other[: count + 2 * word]
        np.multiply(words[word:], two, out=pairs)
        np.add(pairs, words[: len(pairs)], out=pairs)
        np.right_shift(pairs, _HALF, out=shifted)
        np.bitwise_xor(pairs, shifted, out=pairs)
        hashes = other[:count]
        np.multiply(pairs[2 * word :], three, out=hashes)
        np.add(hashes, pairs[:count], out=hashes)
        np.multiply(hashes, four, out=hashes)
        return self._kept(hashes)

    def _kept(self, hashes: Hashes) -> Hashes:
        return hashes if self.bits == 64 else hashes & np.uint64(2**64 - 2 ** (64 - self.bits))  # noqa: PLR2004


def texts_of(column: pa.LargeStringArray) -> tuple[Octets, Offsets]:
    """A column's bytes, all its texts on end, and where in them each begins; one more for where the last ends."""
    _, begins, texts = column.buffers()
    offsets = np.frombuffer(begins, np.int64, len(column) + 1, column.offset * 8)
    octets = np.frombuffer(texts, np.uint8) if texts is not None else np.empty(0, np.uint8)
    return octets[offsets[0] : offsets[-1]], offsets - offsets[0]


def sparse_offsets(begins: Offsets, step: int = ANSWER_STEP) -> tuple[Offsets, Offsets]:
    """Where a window begins at every `step`-th byte of each text: the text's number, and the byte in all on end."""
    counts = np.maximum((np.diff(begins) - WINDOW_BYTES) // step + 1, 0)
    texts = np.repeat(np.arange(len(counts)), counts)
    inside = np.arange(len(texts)) - np.repeat(np.cumsum(counts) - counts, counts)
    return texts, begins[texts] + step * inside


def repeats(hashes: Hashes, some: Offsets) -> npt.NDArray[np.bool_]:
    """Which of some windows in a row lie inside of a text that repeats itself: what is new is at its edges."""
    inner = (some >= _SAME_AROUND) & (some < len(hashes) - _SAME_AROUND)
    at = some[inner]
    inner[inner] = (hashes[at - _SAME_AROUND] == hashes[at]) & (hashes[at] == hashes[at + _SAME_AROUND])
    return inner


def octets_of(text: bytes) -> Octets:
    """The bytes, not copied."""
    return np.frombuffer(text, np.uint8)


@cache
def _factors(key: int) -> tuple[np.uint64, ...]:
    made = blake2b(key.to_bytes(8, "little"), digest_size=32, person=b"kvfence-windows").digest()
    return tuple(np.uint64(int.from_bytes(made[at : at + 8], "little") | 1) for at in range(0, 32, 8))


def _mixed(words: Hashes) -> Hashes:
    return words ^ (words >> _HALF)
