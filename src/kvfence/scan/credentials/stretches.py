"""Cutting a text into stretches, so that the second look costs as little as what the first one points to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

WIDE_BYTES = 65_536
"""The first look goes by these; where it sees something, it goes by narrow ones again."""
NARROW_BYTES = 8_192
MARGIN_BYTES = 4_096
"""On both sides: what a rule may need before and behind. What is longer is looked at again from its beginning."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes [`low`, `high`) of a text are looked at; what begins in [`start`, `end`) is this stretch's."""

    low: int
    start: int
    end: int
    high: int


def stretches(start: int, end: int, length: int, size: int) -> Iterator[Stretch]:
    """Of [`start`, `end`) of a text of `length` bytes, in its order, with `size` bytes of its own each."""
    for at in range(start, end, size):
        stop = min(at + size, end)
        yield Stretch(max(0, at - MARGIN_BYTES), at, stop, min(stop + MARGIN_BYTES, length))
