"""The inputs cut into units of work. The cuts depend on nothing but the inputs, so that rows never do either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kvfence.errors import TargetError
from kvfence.scan.reading.parts import splits_of
from kvfence.scan.reading.records import WHOLE, Part
from kvfence.scan.reading.source import Source

UNIT_BYTES = 64 << 20
"""What is lost at most where a worker dies, and what is held in memory only by a batch at a time."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a source."""

    source: Source
    part: Part
    size: int
    """Bytes of the file as it lies; 0 where nobody knows."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What one worker does at a time: part of a large file, or several small ones."""

    number: int
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        """Bytes, as far as they are known."""
        return sum(piece.size for piece in self.pieces)

    @property
    def where(self) -> str:
        """See `Task`."""
        first = self.pieces[0]
        return f"{first.source.shown}, at byte {first.part.offset:,} or behind it"

    def rooted(self) -> Unit:
        """See `Task`."""
        return replace(self, pieces=tuple(replace(piece, source=piece.source.rooted()) for piece in self.pieces))


def units_of(sources: Sequence[Source], *, unit_bytes: int = UNIT_BYTES) -> tuple[Unit, ...]:
    """All of the inputs in their order."""
    return tuple(Unit(number, pieces) for number, pieces in enumerate(_grouped(sources, unit_bytes)))


def _grouped(sources: Sequence[Source], unit_bytes: int) -> Iterator[tuple[Piece, ...]]:
    some: list[Piece] = []
    size = 0
    for source in sources:
        for piece in _pieces(source, unit_bytes):
            if some and size + piece.size > unit_bytes:
                yield tuple(some)
                some, size = [], 0
            some.append(piece)
            size += piece.size
    if some:
        yield tuple(some)


def _pieces(source: Source, unit_bytes: int) -> Iterator[Piece]:
    size = _size_of(source)
    if size <= unit_bytes:
        yield Piece(source, WHOLE, size)
        return
    try:
        parts = splits_of(source, part_bytes=unit_bytes)
    except (OSError, TargetError):
        parts = (WHOLE,)  # whoever reads it says why it cannot be read
    for part in parts:
        yield Piece(source, part, (size if part.stop is None else part.stop) - part.offset)


def _size_of(source: Source) -> int:
    try:
        return Path(source.target).stat().st_size
    except (OSError, ValueError):
        return 0
