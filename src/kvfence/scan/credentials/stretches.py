"""Cutting a text into stretches, so that the second look costs as little as what the first one points to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

CORE_BYTES = 65_536
MARGIN_BYTES = 8_192
"""On both sides: what a rule may need before and behind. A longer secret is found as far as the margin goes; private
keys have a reach of their own."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes [`low`, `high`) of a text are looked at; what begins in [`start`, `end`) is this stretch's."""

    low: int
    start: int
    end: int
    high: int


def stretches(length: int) -> Iterator[Stretch]:
    """Of a text of that many bytes, in its order."""
    for start in range(0, length, CORE_BYTES):
        end = min(start + CORE_BYTES, length)
        yield Stretch(max(0, start - MARGIN_BYTES), start, end, min(end + MARGIN_BYTES, length))
