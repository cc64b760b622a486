"""Which files a scan reads, as they lie before and after: what an audit trail and a report say was read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kvfence.findings.custody import FileRead
from kvfence.scan.reading.source import Source


def seen_before(sources: Iterable[Source]) -> tuple[FileRead, ...]:
    """Each input with its size and time; an address has neither."""
    return tuple(_stated(source) for source in sources)


def seen_after(sources: Sequence[Source], before: Sequence[FileRead], *, hashed: bool) -> tuple[FileRead, ...]:
    """The same, with what changed since, and with SHA-256 where it is asked for, for which files are read again."""
    return tuple(_compared(source, was, hashed=hashed) for source, was in zip(sources, before, strict=True))


def _compared(source: Source, was: FileRead, *, hashed: bool) -> FileRead:
    digest = next(_digests(source.target), None) if hashed else None
    return replace(was, sha256=digest, changed=_stated(source) != was)


def _stated(source: Source) -> FileRead:
    try:
        found = os.stat(source.target)  # noqa: PTH116 — a target may be any text
    except (OSError, ValueError):
        return FileRead(file=source.shown, size_bytes=None, modified_ms=None)
    return FileRead(file=source.shown, size_bytes=found.st_size, modified_ms=found.st_mtime_ns // 1_000_000)


def _digests(target: str) -> Iterator[str]:
    """Of a file that can be read; none of an address."""
    try:
        with open(target, "rb") as file:  # noqa: PTH123 — the same
            yield hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return
