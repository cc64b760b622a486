"""A target looked at once: what kind of file it is, and which log format it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from kvfence.errors import TargetError
from kvfence.scan.formats.catalogue import format_of
from kvfence.scan.formats.unwrapped import unwrapped
from kvfence.scan.reading.addresses import shown
from kvfence.scan.reading.csv_rows import delimiter_of
from kvfence.scan.reading.decoded import NotJsonError, decoded
from kvfence.scan.reading.lines import lines_of
from kvfence.scan.reading.opening import opened
from kvfence.scan.reading.record import Record
from kvfence.scan.reading.records import records_of
from kvfence.scan.reading.source import Kind, Source

_HEAD_BYTES = 1 << 16
_RECORDS_LOOKED_AT = 200
_LINES_LOOKED_AT = 100_000
"""Of text: a server says much before its first request."""
NO_FORMAT = "no log format that is known here; name it with --input-format, or describe it with --mapping"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ARRAY = re.compile(rb"\s*\[\s*(?:[\[{\"\]]|$)")
_COLUMN = re.compile(r"\s*\"?[A-Za-z_][\w .:-]*\"?\s*")
_COLUMNS_MIN = 3
_NULS_MAX = 0.01
"""Of a text's bytes: a crash leaves some in the middle of a log."""


def looked_at(number: int, target: str, asked: str | None = None) -> Source:
    """The target as a source. What cannot be read becomes one that says why when it is read.

    `asked`: the name of the format that the user says it has.
    """
    name = shown(target)
    try:
        kind = _kind_of(target)
    except TargetError as error:
        why = str(error).removeprefix(f"{name}: ")
        return Source(number=number, target=target, shown=name, kind=Kind.UNREADABLE, format="", why=why)
    source = Source(number=number, target=target, shown=name, kind=kind, format=asked or "", is_asked=bool(asked))
    if asked:
        return source
    unread: list[str] = []
    form = _format_name(source, unread)
    if not form:
        return replace(source, kind=Kind.UNREADABLE, why=unread[0] if unread else NO_FORMAT)
    return replace(source, format=form)


def _kind_of(target: str) -> Kind:
    if target.endswith((".parquet", ".pq")):
        return Kind.PARQUET
    with opened(target) as file:
        try:
            head = file.stream.peek(_HEAD_BYTES)
            if not head:
                raise TargetError(file.gap or "empty")
            kind = _kind_by(head, target)
            if kind is None:
                first = [raw.content for raw in islice(lines_of(file.stream), 2)]
                kind = _kind_of_braces([content for content in first if content is not None])
        except OSError as error:
            raise TargetError(f"reading it failed: {error.strerror or error}") from error
    return kind


def _kind_by(head: bytes, target: str) -> Kind | None:
    """By what a file begins with; None where its first lines have to be read."""
    if head.startswith(b"PAR1"):
        return Kind.PARQUET
    if head.startswith(_UTF16):
        raise TargetError("UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\0").lstrip()
    if not text:
        raise TargetError("binary, not a log" if b"\0" in head else "empty: there are blank lines alone")
    if text.count(b"\0") > len(text) * _NULS_MAX and not text.startswith((b"{", b"[")):
        raise TargetError("binary, not a log")
    if _ARRAY.match(text):
        return Kind.VALUES
    if text.startswith(b"{"):
        return None
    return Kind.CSV if _has_columns(text.partition(b"\n")[0].decode(errors="replace"), target) else Kind.LINES


def _has_columns(header: str, target: str) -> bool:
    cells = header.rstrip("\r").split(delimiter_of(header))
    named = re.search(r"\.[ct]sv(\.\w+)?$", target.lower()) is not None
    return named or (len(cells) >= _COLUMNS_MIN and all(_COLUMN.fullmatch(cell) for cell in cells))


def _kind_of_braces(first: list[bytes]) -> Kind:
    """JSON a line, unless the first line is none and the second goes on with it."""
    try:
        decoded((first or [b"{}"])[0].removeprefix(b"\xef\xbb\xbf").lstrip(b"\0"))
    except NotJsonError:
        goes_on = len(first) > 1 and not first[1].startswith(b"{")
        return Kind.VALUES if goes_on else Kind.LINES
    return Kind.LINES


def _format_name(source: Source, unread: list[str]) -> str:
    """Of the first records; empty where none of them is known. Why a file could not be read at all is added."""
    form = format_of(inner for record in _first(source, unread) for inner in (record, *unwrapped(record)))
    return form.name if form else ""


def _first(source: Source, unread: list[str]) -> Iterator[Record]:
    objects = records = 0
    why = ""
    for record in islice(records_of(source, texts=True), _LINES_LOOKED_AT):
        if isinstance(record, Record):
            yield record
            records += 1
            objects += not isinstance(record.value, str)
            if objects == _RECORDS_LOOKED_AT:
                return
        elif record.line is None or not why:
            why = why or record.why
            unread += [record.why] if record.line is None else []
    if not records and why:
        unread.append(why)
