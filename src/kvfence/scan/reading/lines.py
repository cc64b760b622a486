"""A stream of bytes as its lines, each of bounded length, with the byte and the number of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from kvfence.scan.reading.record import BYTES_MAX, Raw

_SKIPPED_AT_ONCE = 1 << 20


def lines_of(
    stream: IO[bytes], *, offset: int = 0, line: int = 1, stop: int | None = None, keep_empty: bool = False
) -> Iterator[Raw]:
    """The lines that begin before byte `stop`; the stream stands at `offset`, the beginning of line number `line`.

    Empty lines are left out, but counted, unless they are kept.

    Raises:
        OSError: reading failed.
    """
    while stop is None or offset < stop:
        content = stream.readline(BYTES_MAX + 1)
        if not content:
            return
        length, is_ended = len(content), content.endswith(b"\n")
        is_long = length > BYTES_MAX and not is_ended
        if is_long:
            length, is_ended = _past(stream, length)
        if is_long or keep_empty or not content.isspace():
            yield Raw(offset, line, None if is_long else content, is_ended)
        offset, line = offset + length, line + 1


def _past(stream: IO[bytes], length: int) -> tuple[int, bool]:
    """Read on to the end of a line of which `length` bytes are read; its whole length, and whether it has an end."""
    while piece := stream.readline(_SKIPPED_AT_ONCE):
        length += len(piece)
        if piece.endswith(b"\n"):
            return length, True
    return length, False
