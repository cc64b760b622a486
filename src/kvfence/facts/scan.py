"""A log as a stream of bytes: which of its lines could say something, with bounded memory. No line is understood here.

A log can be gigabytes of noise around ten lines that matter, so lines are not split. Each block is searched for the
stems of the lines that a reader knows (`anchors`); only around a hit is a line cut out, and lines are numbered by
counting newlines in between. Container runtimes cut long lines into pieces and mark them as partial; those are put
together here, since an engine's dump of its settings is 20 to 30 KB and the pieces are 16 KB.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from kvfence.facts.anchors import Anchors, newlines
from kvfence.facts.recurring import Recurring, Repeats
from kvfence.facts.wrapping import is_partial

BLOCK_BYTES = 1 << 18
"""Small enough that what is made of a block stays in the processor's cache; 64 KiB to 1 MiB were read alike."""
LINE_BYTES_MAX = 1 << 20
"""Longer lines are read to here. The longest that an engine is known to write, SGLang's settings, is 30 KB."""


class Readable(Protocol):
    """Where bytes come from: a file, standard input, a test's bytes."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line that may say something; in pieces if a container runtime cut it."""

    number: int
    """From 1; of its first piece."""
    pieces: tuple[bytes, ...]
    cut: bool
    """It was longer than `LINE_BYTES_MAX` and is not whole."""
    ended: bool = True
    """False for the last line of a source that stops without a newline: it may go on where the source stopped."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Lines that say once more what candidates before them said."""

    number: int
    """Of the last of them, from 1."""
    repeats: Repeats


def candidates(source: Readable, anchors: Anchors, recurring: Recurring) -> Iterator[Candidate | Repeated]:
    """The lines that have a stem, in order; those of which `recurring` has a form are put together.

    Holds a few blocks at a time, whatever the size of the source.
    """
    carried, lines_before = b"", 0
    while block := source.read(BLOCK_BYTES):
        text = carried + block
        end = text.rfind(b"\n") + 1
        if end == 0 and len(text) < LINE_BYTES_MAX:
            carried = text
            continue
        if end == 0:
            yield from _overlong(text, anchors, lines_before + 1)
            text = _behind_newline(source)
            lines_before += 1
            carried = text
            continue
        kept = yield from _in_block(text[:end], anchors, recurring, lines_before, final=False)
        lines_before += newlines(text, 0, kept)
        carried = text[kept:]
    if carried:
        yield from _last(carried, anchors, lines_before)


def _last(carried: bytes, anchors: Anchors, lines_before: int) -> Iterator[Candidate | Repeated]:
    """What the source ends with, when it does not end with a newline, or ends within the pieces of a line."""
    ended = carried.endswith(b"\n")
    body = carried if ended else carried + b"\n"
    last_line = lines_before + newlines(body, 0, len(body))
    for found in _in_block(body, anchors, Recurring(), lines_before, final=True):
        if isinstance(found, Candidate) and found.number + len(found.pieces) > last_line:
            yield replace(found, ended=ended and not is_partial(found.pieces[-1]))
        else:
            yield found


def _overlong(text: bytes, anchors: Anchors, number: int) -> Iterator[Candidate]:
    head = text[:LINE_BYTES_MAX]
    if anchors.stands_in(head):
        yield Candidate(number, (head,), cut=True)


def _behind_newline(source: Readable) -> bytes:
    """Skip the rest of a line; what was read behind it."""
    while block := source.read(BLOCK_BYTES):
        end = block.find(b"\n") + 1
        if end:
            return block[end:]
    return b""


def _in_block(
    body: bytes, anchors: Anchors, recurring: Recurring, lines_before: int, *, final: bool
) -> Generator[Candidate | Repeated, None, int]:
    """The candidates in a block of whole lines; returns how much of it is dealt with."""
    lines, done = _Lines(body, lines_before + 1), 0
    for at in anchors.suspects(body):
        if at < done or not anchors.is_hit(body, at):
            continue
        start = body.rfind(b"\n", 0, at) + 1
        done = recurring.take(body, start)
        if done > start:
            continue
        yield from _drained(recurring, lines)
        pieces, end = _pieces(body, start)
        if end is None and not final and len(body) - start < LINE_BYTES_MAX:
            return start
        done = end or len(body)
        yield Candidate(lines.number(start), pieces, cut=sum(map(len, pieces)) >= LINE_BYTES_MAX)
    yield from _drained(recurring, lines)
    return len(body)


@dataclass(slots=True)
class _Lines:
    """The lines of a block, counted as far as was asked."""

    body: bytes
    at_counted: int
    counted: int = 0

    def number(self, start: int) -> int:
        """The number of the line that begins there, behind the one that was asked for last."""
        self.at_counted += newlines(self.body, self.counted, start)
        self.counted = start
        return self.at_counted


def _drained(recurring: Recurring, lines: _Lines) -> Iterator[Repeated]:
    for repeats in recurring.drain(lines.body):
        yield Repeated(lines.number(repeats.start), repeats)


def _pieces(body: bytes, start: int) -> tuple[tuple[bytes, ...], int | None]:
    """The pieces of the line at `start`, and where it ends; None when its last piece is not in this block."""
    pieces: list[bytes] = []
    size = 0
    while start < len(body):
        end = body.find(b"\n", start) + 1
        piece = body[start : min(end, start + LINE_BYTES_MAX)].rstrip(b"\r\n")
        pieces.append(piece)
        size += len(piece)
        if size >= LINE_BYTES_MAX or not is_partial(piece):
            return tuple(pieces), end
        start = end
    return tuple(pieces), None
