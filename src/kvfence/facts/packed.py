"""A compressed source as the text inside it, a piece at a time: gzip, bzip2, xz and zstd. No text is looked at here.

What is broken or cut off inside gives what stands before it, and says so: a log may be packed while it is copied.
"""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Callable
from typing import IO, Any

from kvfence.errors import TargetError

_MAGICS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "xz", b"BZh": "bzip2"}
_BUFFER_BYTES = 1 << 18
_ZSTD_PIECE_BYTES = 1 << 12
"""So small, since each 4 bytes of a hostile stream may stand for 128 KiB."""


class Inside(io.RawIOBase):
    """The text inside a packed stream, up to where it is whole."""

    def __init__(self, stream: IO[bytes], kind: str) -> None:
        self._stream, self._kind, self._rest = stream, kind, b""
        self.gap: str | None = None
        """A sentence's end, once the reading has come to a place where it could not go on."""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # any writable buffer is one
        """What could be unpacked, at most as much as fits; nothing at the end, and behind a broken place."""
        if self.gap:
            return 0
        try:
            piece = self._rest or self._piece(len(buffer))
        except EOFError:
            self.gap = f"it ends in the middle of its {self._kind} stream; what stands before was read"
        except _broken() as error:
            self.gap = f"its {self._kind} stream is broken ({error}); what stands before was read"
        else:
            size = min(len(piece), len(buffer))
            buffer[:size], self._rest = piece[:size], piece[size:]
            return size
        return 0

    def _piece(self, size: int) -> bytes:
        read = getattr(self._stream, "read1", self._stream.read)
        piece: bytes = read(size)
        return piece


def unpacked(source: io.BufferedReader, shown: str) -> tuple[io.BufferedReader, Inside | None]:
    """The text inside, and the stream that tells afterwards whether it was whole; the source itself if not packed.

    Raises:
        TargetError: it is zstd, and nothing here can unpack that.
    """
    head = source.peek(8)
    kind = next((kind for magic, kind in _MAGICS.items() if head.startswith(magic)), None)
    if kind is None:
        return source, None
    opener = _OPENERS[kind]
    inside = Inside(opener(source, shown), kind)
    return io.BufferedReader(inside, _BUFFER_BYTES), inside


def _gzip(source: io.BufferedReader, _shown: str) -> IO[bytes]:
    import gzip  # noqa: PLC0415 — only who needs it pays for it

    return gzip.open(source)  # type: ignore[return-value]  # all that is asked of it is read1


def _bzip2(source: io.BufferedReader, _shown: str) -> IO[bytes]:
    import bz2  # noqa: PLC0415 — the same

    return bz2.open(source)


def _xz(source: io.BufferedReader, _shown: str) -> IO[bytes]:
    import lzma  # noqa: PLC0415 — the same

    return lzma.open(source)


def _zstd(source: io.BufferedReader, shown: str) -> IO[bytes]:
    """Python's own from 3.14 on, else the package `zstandard` where it is installed."""
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 — 3.14
    except ImportError:
        pass
    else:
        stream: IO[bytes] = zstd.ZstdFile(source)
        return stream
    try:
        import zstandard  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 — need not be there
    except ImportError as error:
        raise TargetError(
            f"{shown}: compressed with zstd; pip install zstandard, or unpack it on the way: "
            f"zstdcat {shown} | kvfence audit -"
        ) from error
    return _ZstdFrames(source, zstandard.ZstdDecompressor().decompressobj)  # type: ignore[return-value]  # the same


class _ZstdFrames(io.RawIOBase):
    """The frames of a zstd stream one after another; the package's own reader does not tell where one is cut off."""

    def __init__(self, source: IO[bytes], begin: Callable[[], Any]) -> None:
        self._source, self._begin = source, begin
        self._frame = begin()
        self._rest, self._is_within = b"", False

    def read1(self, _size: int) -> bytes:
        """The next of it, at most as much as one small piece unpacks to; nothing at the end.

        Raises:
            EOFError: the last frame is not whole.
        """
        while True:
            piece = self._rest or self._source.read(_ZSTD_PIECE_BYTES)
            if not piece:
                if self._is_within:
                    raise EOFError
                return b""
            self._rest, self._is_within = b"", True
            content: bytes = self._frame.decompress(piece)
            if self._frame.eof:
                self._rest, self._is_within = self._frame.unused_data, False
                self._frame = self._begin()
            if content:
                return content


_OPENERS: dict[str, Callable[[io.BufferedReader, str], IO[bytes]]] = {
    "gzip": _gzip,
    "bzip2": _bzip2,
    "xz": _xz,
    "zstd": _zstd,
}


def _broken() -> tuple[type[Exception], ...]:
    """What unpackers raise for bad data; of those that are loaded at most on demand, only what is loaded."""
    names = (("lzma", "LZMAError"), ("zstandard", "ZstdError"), ("compression.zstd", "ZstdError"))
    loaded: list[type[Exception]] = [getattr(sys.modules[at], name) for at, name in names if at in sys.modules]
    return (OSError, ValueError, zlib.error, *loaded)
