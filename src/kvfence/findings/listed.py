"""A list in a sentence that stays readable however long the list is."""

from __future__ import annotations

from collections.abc import Sequence


def listed(words: Sequence[str], most: int) -> str:
    """The first of them, and how many more there are."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")
