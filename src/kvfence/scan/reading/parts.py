"""A file of lines cut into parts for several processes, each at the beginning of a line."""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.scan.reading.exchanges import is_divisible
from kvfence.scan.reading.opening import opened
from kvfence.scan.reading.records import WHOLE, Part
from kvfence.scan.reading.source import Source

PART_BYTES = 256 << 20
_PIECE_BYTES = 1 << 20


def splits_of(source: Source, *, part_bytes: int = PART_BYTES) -> tuple[Part, ...]:
    """Parts that together are the whole source, each about `part_bytes` long; one where it cannot be divided.

    Lines are counted on the way, so that a part knows the number of its first one; that reads the file once.

    Raises:
        TargetError: it cannot be opened any more.
        OSError: reading failed.
    """
    if not is_divisible(source):
        return (WHOLE,)
    begins = [*_begins(source, part_bytes)]
    stops = [begin.offset for begin in begins[1:]]
    return tuple(
        Part(offset=begin.offset, line=begin.line, stop=stop)
        for begin, stop in zip(begins, [*stops, None], strict=True)
    )


def _begins(source: Source, part_bytes: int) -> Iterator[Part]:
    yield WHOLE
    offset, line, after = 0, 1, part_bytes
    with opened(source.target) as file:
        while piece := file.stream.read(_PIECE_BYTES):
            at = 0
            while (end := piece.find(b"\n", max(at, after - offset))) >= 0:
                line += piece.count(b"\n", at, end + 1)
                at = end + 1
                yield Part(offset=offset + at, line=line)
                after = offset + at + part_bytes
            line += piece.count(b"\n", at)
            offset += len(piece)
