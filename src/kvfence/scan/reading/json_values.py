"""A stream of JSON that is not one value a line: values one after another, or the elements of an array.

Only brackets and quotes are looked at, so that an array of any size is cut in bounded memory; what a value is, is
told when it is decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from kvfence.scan.reading.record import BYTES_MAX, Raw

_PIECE_BYTES = 1 << 20
_MARK = re.compile(rb'["\[\]{}]')
_IN_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


def json_values_of(stream: IO[bytes]) -> Iterator[Raw]:
    """Each object of the stream: its own ones, and those in an array that is one of its own.

    Raises:
        OSError: reading failed.
    """
    cut = _Cut()
    while piece := stream.read(_PIECE_BYTES):
        yield from cut.feed(piece)
    yield from cut.rest()


class _Cut:
    """Where the cutting stands between two pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_array = False
        """Whether the outermost bracket is one of an array: its elements are the values then."""
        self._in_string = False
        self._escaped = False
        self._kept: list[bytes] | None = None
        """Pieces of the value that has begun; None where none has."""
        self._kept_bytes = 0
        self._began = (0, 1)
        self._offset, self._line = 0, 1

    def feed(self, piece: bytes) -> Iterator[Raw]:
        """What ends in this piece."""
        at, start = 0, 0
        while at < len(piece):
            if self._in_string:
                at = self._through_string(piece, at)
                continue
            found = _MARK.search(piece, at)
            if found is None:
                break
            at = found.end()
            mark = found.group()
            if mark == b'"':
                self._in_string = True
            elif mark in b"[{":
                if self._opens(mark):
                    start = found.start()
                    self._began = (self._offset + start, self._line + piece.count(b"\n", 0, start))
            elif self._closes():
                yield self._taken(piece[start:at])
        if self._kept is not None:
            self._keep(piece[start:])
        self._offset += len(piece)
        self._line += piece.count(b"\n")

    def rest(self) -> Iterator[Raw]:
        """The value that was cut off by the end, if there is one."""
        if self._kept is not None:
            yield Raw(*self._began, None if self._is_long else b"".join(self._kept), is_ended=False)

    @property
    def _is_long(self) -> bool:
        return self._kept_bytes > BYTES_MAX

    def _opens(self, mark: bytes) -> bool:
        """Note a bracket; whether a value begins with it."""
        if self._depth == 0:
            self._is_array = mark == b"["
        self._depth += 1
        begins = self._kept is None and self._depth == (2 if self._is_array else 1)
        if begins:
            self._kept, self._kept_bytes = [], 0
        return begins

    def _closes(self) -> bool:
        """Note a bracket; whether the value ends with it."""
        self._depth = max(0, self._depth - 1)
        return self._kept is not None and self._depth == (1 if self._is_array else 0)

    def _taken(self, end: bytes) -> Raw:
        self._keep(end)
        raw = Raw(*self._began, None if self._is_long else b"".join(self._kept or ()))
        self._kept, self._kept_bytes = None, 0
        return raw

    def _keep(self, piece: bytes) -> None:
        self._kept_bytes += len(piece)
        if self._kept is not None and not self._is_long:
            self._kept.append(piece)
        elif self._kept:
            self._kept.clear()

    def _through_string(self, piece: bytes, at: int) -> int:
        """Where the string that is open at `at` ends, or the piece does."""
        if self._escaped:
            self._escaped, at = False, at + 1
        found = _IN_STRING.match(piece, at)
        at = found.end() if found else at
        if at == len(piece):
            return at
        if piece[at : at + 1] == b'"':
            self._in_string = False
        else:
            self._escaped = True  # a backslash is the last byte of the piece
        return at + 1
