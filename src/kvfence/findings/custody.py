"""What a run has read and written, for whoever must account for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """An input, as it lay when the run began. What cannot be known (the size of an address) is None."""

    file: str
    size_bytes: int | None
    modified_ms: int | None
    """Milliseconds since 1970, UTC."""
    sha256: str | None = None
    """Of the bytes as they lie; only where it was asked for."""
    changed: bool = False
    """Whether its size or its time is another at the end: then nobody knows which of the two was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWritten:
    """An output."""

    file: str
    size_bytes: int
    sha256: str
