"""A file or an address, opened as a stream of unpacked bytes; addresses are read as they come, never stored."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa

from kvfence.errors import TargetError, why_unreached
from kvfence.facts.packed import Inside, unpacked
from kvfence.scan.reading.addresses import HTTP, STORES, is_address, shown
from kvfence.scan.reading.stores import file_of, stream_of

_BUFFER_BYTES = 1 << 20
_TIMEOUT_S = 60.0
_HTTP_ERROR = 400


@dataclass(frozen=True, slots=True)
class Opened:
    """Bytes at their beginning."""

    stream: io.BufferedReader
    inside: Inside | None
    """Where it is packed: what tells after the reading whether all of it could be unpacked."""
    is_seekable: bool

    @property
    def gap(self) -> str | None:
        """What could not be unpacked, as far as it was read."""
        return self.inside.gap if self.inside else None


@contextmanager
def opened(target: str) -> Iterator[Opened]:
    """The target's bytes, unpacked where it is packed.

    Raises:
        TargetError: it cannot be opened, or not be unpacked here; one line says why and what to do.
    """
    with packed(target) as raw:
        source = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw, _BUFFER_BYTES)
        try:
            stream, inside = unpacked(source, shown(target))
        except OSError as error:
            raise TargetError(f"reading it failed: {error.strerror or error}") from error
        yield Opened(stream, inside, is_seekable=inside is None and not is_address(target))


@contextmanager
def packed(target: str) -> Iterator[Any]:
    """The target's bytes as they are stored.

    Raises:
        TargetError: it cannot be opened.
    """
    if target.startswith(HTTP):
        with _over_http(target) as stream:
            yield stream
    elif target.startswith(STORES):
        with stream_of(target) as stream:
            yield stream
    else:
        with _file(target) as stream:
            yield stream


def _file(target: str) -> io.BufferedReader:
    try:
        if not stat.S_ISREG(Path(target).stat().st_mode):
            raise TargetError("not a regular file: it is read twice, so a pipe or a device cannot be scanned")
        return io.BufferedReader(io.FileIO(target), _BUFFER_BYTES)
    except PermissionError as error:
        raise TargetError("permission denied; run as a user who may read it") from error
    except (OSError, ValueError) as error:
        raise TargetError(f"cannot be opened: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def _over_http(target: str) -> Iterator[io.RawIOBase]:
    try:
        with httpx.stream("GET", target, timeout=_TIMEOUT_S, follow_redirects=True) as answer:
            if answer.status_code >= _HTTP_ERROR:
                raise TargetError(f"the server answers {answer.status_code}; is the address right, and still valid?")
            yield _Pieces(answer.iter_raw(_BUFFER_BYTES))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise TargetError(why_unreached(error)) from error


class _Pieces(io.RawIOBase):
    """An answer's body as a stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # any writable buffer is one
        """What has come, at most as much as fits.

        Raises:
            OSError: the connection broke.
        """
        try:
            piece = self._rest or next(self._pieces, b"")
        except httpx.HTTPError as error:
            raise OSError(f"the connection broke off ({type(error).__name__})") from error
        size = min(len(buffer), len(piece))
        buffer[:size], self._rest = piece[:size], piece[size:]
        return size


def seekable(target: str) -> Any:
    """The target as a file that can be read at any place, for formats with their table of contents at the end.

    Raises:
        TargetError: it cannot be opened, or cannot be read at any place.
    """
    try:
        if target.startswith(STORES):
            return file_of(target)
        if target.startswith(HTTP):
            raise TargetError("Parquet over HTTP cannot be read in pieces; download it, or name it as s3:// or gs://")
        _file(target).close()
        return pa.OSFile(target)
    except OSError as error:
        raise TargetError(f"cannot be opened: {str(error).splitlines()[0]}") from error
