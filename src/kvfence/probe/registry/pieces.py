"""A marker's pieces as numbers: two neighbouring groups are 50 bits, which SQLite holds and finds as a whole number."""

from __future__ import annotations

from kvfence.probe.markers import ALPHABET, pieces_in

_VALUES = {letter: value for value, letter in enumerate(ALPHABET)}


def piece_number(piece: str) -> int:
    """Of two groups with a dash between them."""
    number = 0
    for letter in piece.replace("-", ""):
        number = number << 5 | _VALUES[letter]
    return number


def piece_numbers(marker: str) -> frozenset[int]:
    """Of each two neighbouring groups of a marker."""
    return frozenset(map(piece_number, pieces_in(marker)))
