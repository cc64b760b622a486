"""The induction rule told again without attention, in whole numbers; and texts that make it hard."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from kvfence.cell.models import induction

SUFFIX = 8
ALPHABETS = (b"a", b"ab", b"abc \n", bytes(range(256)))

TEXTS = st.sampled_from(ALPHABETS).flatmap(
    lambda alphabet: st.builds(
        lambda pattern, times, end: (pattern * times)[:80] + end,
        st.lists(st.sampled_from(alphabet), min_size=1, max_size=14).map(bytes),
        st.integers(1, 20),
        st.lists(st.sampled_from(alphabet), max_size=12).map(bytes),
    )
)
"""Random texts, most of them repetitive or from few letters, so that suffixes recur and tie."""


def pool_of(text: bytes, page_table: list[int], page_size: int, *, fill: float = 0.0) -> np.ndarray:
    """A pool in which these pages hold the keys and values of `text`, and everything else holds `fill`."""
    pages = np.full((max(page_table) + 2, page_size, induction.ROW_FLOATS), fill, dtype=np.float32)
    rows = np.zeros((len(text), induction.ROW_FLOATS), dtype=np.float32)
    induction.encode_rows(np.frombuffer(text, np.uint8), 0, len(text), rows)
    for slot, row in enumerate(rows):
        pages[page_table[slot // page_size], slot % page_size] = row
    return pages


def agreement(text: bytes, slot: int) -> int:
    """How many tokens before `slot` are the last ones of the text, up to 8."""
    length = 0
    while length < min(SUFFIX, slot) and text[slot - 1 - length] == text[-1 - length]:
        length += 1
    return length


def place_read(text: bytes) -> int:
    """The slot with the highest score, the latest of equals; scores in whole numbers of 4**-7."""
    agree = (induction.WORDS @ induction.WORDS.T).astype(int)
    scores = [
        sum(
            4 ** (SUFFIX - 1 - back) * int(agree[text[slot - 1 - back], text[-1 - back]])
            for back in range(min(SUFFIX, slot))
        )
        for slot in range(len(text))
    ]
    return max(range(len(text)), key=lambda slot: (scores[slot], slot))
