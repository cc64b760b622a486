"""The records of a source, by the kind of file that it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kvfence.errors import TargetError
from kvfence.scan.exchange import Place, Unread
from kvfence.scan.reading.csv_rows import csv_rows_of
from kvfence.scan.reading.decoded import NotJsonError, decoded
from kvfence.scan.reading.json_values import json_values_of
from kvfence.scan.reading.lines import lines_of
from kvfence.scan.reading.opening import Opened, opened
from kvfence.scan.reading.parquet_rows import parquet_rows_of
from kvfence.scan.reading.record import TOO_LONG, Raw, Record
from kvfence.scan.reading.source import Kind, Source

_BOM = b"\xef\xbb\xbf"
_WHY_CHARS_MAX = 200
_MEANT_AS_JSON = re.compile(rb"\{|\[\s*[\[{\"\]]")
"""A line of a program's log may begin with its time in brackets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of a file of lines, from the beginning of a line on."""

    offset: int = 0
    line: int = 1
    """The number of the line that begins at `offset`."""
    stop: int | None = None
    """Lines that begin here or behind are another part's."""


WHOLE = Part()


def records_of(source: Source, part: Part = WHOLE, *, texts: bool = False) -> Iterator[Record | Unread]:
    """What stands in this part of a source. Where reading ends early, it says so last.

    `texts`: lines that are no JSON are records too.
    """
    try:
        match source.kind:
            case Kind.UNREADABLE:
                yield Unread(source=source.number, line=None, why=source.why)
            case Kind.PARQUET:
                yield from parquet_rows_of(source)
            case Kind.LINES | Kind.VALUES | Kind.CSV:
                with opened(source.target) as file:
                    yield from _of_stream(source, part, file, texts=texts)
    except TargetError as error:
        yield Unread(source=source.number, line=None, why=str(error))


def _of_stream(source: Source, part: Part, file: Opened, *, texts: bool) -> Iterator[Record | Unread]:
    line = part.line
    try:
        for record in _cut(source, part, file, texts=texts):
            line = record.place.line if isinstance(record, Record) else record.line or line
            yield record
    except (OSError, ValueError) as error:
        why = str(getattr(error, "strerror", None) or error).partition("\n")[0][:_WHY_CHARS_MAX]
        yield Unread(source=source.number, line=line, why=f"reading it failed behind this line: {why}")
    if file.gap:
        yield Unread(source=source.number, line=line, why=file.gap)


def _cut(source: Source, part: Part, file: Opened, *, texts: bool) -> Iterable[Record | Unread]:
    if source.kind is Kind.CSV:
        return csv_rows_of(source, file.stream)
    if source.kind is Kind.VALUES:
        raws = json_values_of(file.stream)
    else:
        if part.offset:
            file.stream.seek(part.offset)
        raws = lines_of(file.stream, offset=part.offset, line=part.line, stop=part.stop)
    return _decoded(source, raws, file, texts=texts)


def _decoded(source: Source, raws: Iterable[Raw], file: Opened, *, texts: bool) -> Iterator[Record | Unread]:
    for raw in raws:
        if not raw.is_ended and file.gap:
            return  # cut off in this record: that the file is, is told once
        yield from of_raw(source, raw, texts=texts)


def of_raw(source: Source, raw: Raw, *, texts: bool = False) -> Iterator[Record | Unread]:
    """The record of these bytes, or the records where they are an array of them."""
    content = raw.content
    if content is None:
        yield Unread(source=source.number, line=raw.line, why=TOO_LONG)
        return
    if not raw.offset:
        content = content.removeprefix(_BOM)
    content = content.lstrip(b"\0")  # a log that was cut off while it was written, or after a crash
    if content.isspace() or not content:
        yield Unread(source=source.number, line=raw.line, why="NUL bytes, and no text")
        return
    try:
        value = decoded(content)
    except NotJsonError as error:
        if texts and not _MEANT_AS_JSON.match(content):
            yield Record(_place(source, raw), content.decode(errors="replace").rstrip("\r\n"))
        else:
            ending = "" if raw.is_ended else "; the file ends in the middle of it"
            yield Unread(source=source.number, line=raw.line, why=f"{error}{ending}")
        return
    for at, inner in enumerate(value if isinstance(value, list) else [value]):
        if isinstance(inner, dict):
            yield Record(_place(source, raw, at), inner)
        elif texts:
            yield Record(_place(source, raw, at), content.decode(errors="replace").rstrip("\r\n"))
        else:
            yield Unread(source=source.number, line=raw.line, why="JSON, but not an object")


def _place(source: Source, raw: Raw, at: int = 0) -> Place:
    return Place(source=source.number, offset=raw.offset + at, line=raw.line)
