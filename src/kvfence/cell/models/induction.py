"""An exact induction head built by hand: no training, no download, any length, one token a byte.

Slot i of a request holds

    key    the code words of tokens i-1, i-2 … i-8 (zeros where there is none)    8 x 16 numbers
    value  the code word of token i                                               16 numbers

and the query at the end is the code of the last 8 tokens, so a query finds where the current suffix stood before, and
reads what came next. The word j steps back weighs 4**-j: then one byte more of agreement outweighs everything behind
it, and the highest score has the longest matching suffix. Of places that match equally far, the one with the more
similar word before wins, then the latest (attention at temperature zero). Words are those of the Nordstrom-Robinson
code: 256 words of 16 bits, any two at least 6 apart, as +1 and -1. A word against itself scores 16, against another
at most 4, at worst -16; so 12 w(j) > 32 (w(j+1) + w(j+2) + ...) holds for powers of 1/4, and every score is a
multiple of 2**-14 below 2**5: exact in float32, whatever the order of sums.

Cleared slots have zero keys and values: they score 0, below any agreement; read, they give `NOTHING`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SUFFIX = 8
WORD = 16
KEY_FLOATS = SUFFIX * WORD
ROW_FLOATS = KEY_FLOATS + WORD
NOTHING = ord(".")
"""The token read from a slot that holds nothing: harmless, and nobody's."""

Rows = NDArray[np.float32]


def _code_words() -> Rows:
    """256 x 16: the octacode over Z4 (a cyclic code of length 7 and a parity), mapped to bits by Gray's code."""
    generator = np.zeros((4, 8), dtype=np.int64)
    for shift in range(4):
        generator[shift, shift : shift + 4] = (3, 1, 2, 1)
        generator[shift, 7] = -7 % 4
    messages = np.indices((4, 4, 4, 4)).reshape(4, 256).T
    gray = np.array(((0, 0), (0, 1), (1, 1), (1, 0)))
    bits = gray[messages @ generator % 4].reshape(256, WORD)
    words: Rows = (1 - 2 * bits).astype(np.float32)
    return words


WORDS = _code_words()
_WEIGHTS = (0.25 ** np.arange(SUFFIX)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class AttentionRead:
    """What one attention step read, and where."""

    token: int
    page: int
    slot: int


def encode_rows(tokens: NDArray[np.uint8], start: int, stop: int, out: Rows) -> None:
    """Write the rows of tokens[start:stop] into `out`, shaped (stop - start, ROW_FLOATS)."""
    for back in range(SUFFIX):
        first = max(start, back + 1)
        part = out[:, back * WORD : (back + 1) * WORD]
        part[: min(first, stop) - start] = 0
        if first < stop:
            part[first - start :] = WORDS[tokens[first - back - 1 : stop - back - 1]]
    out[:, KEY_FLOATS:] = WORDS[tokens[start:stop]]


def query(tail: bytes) -> Rows:
    """The query of KEY_FLOATS numbers for a text that ends in `tail`."""
    words = np.zeros((SUFFIX, WORD), dtype=np.float32)
    for back, token in enumerate(reversed(tail[-SUFFIX:])):
        words[back] = WORDS[token] * _WEIGHTS[back]
    return words.reshape(KEY_FLOATS)


def attend(pages: Rows, page_table: Sequence[int] | NDArray[np.int64], length: int, q: Rows) -> AttentionRead:
    """Read slots [0, length) through the page table; `pages` is (pages, page_size, ROW_FLOATS)."""
    page_size = pages.shape[1]
    best, token, page, slot = -np.inf, NOTHING, -1, -1
    for at, first_page, count in runs(page_table[: -(-length // page_size)]):
        slots = min(count * page_size, length - at * page_size)
        rows = pages[first_page : first_page + count].reshape(-1, ROW_FLOATS)[:slots]
        scores = rows[:, :KEY_FLOATS] @ q
        here = slots - 1 - int(scores[::-1].argmax())
        if scores[here] >= best:
            best = float(scores[here])
            token = _nearest(rows[here, KEY_FLOATS:])
            page, slot = first_page + here // page_size, here % page_size
    return AttentionRead(token, page, slot)


def runs(page_table: Sequence[int] | NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Consecutive pages as (index in the table, first page, how many): one matrix product each."""
    if not len(page_table):
        return []
    table = np.asarray(page_table, dtype=np.int64)
    starts = np.flatnonzero(np.diff(table, prepend=table[0] - 2) != 1)
    counts = np.diff(starts, append=len(table))
    return [(int(at), int(table[at]), int(count)) for at, count in zip(starts, counts, strict=True)]


def _nearest(value: Rows) -> int:
    return int((WORDS @ value).argmax()) if value.any() else NOTHING
