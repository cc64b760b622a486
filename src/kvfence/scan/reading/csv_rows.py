"""The rows of a CSV by the names of its columns. Cells may hold line breaks, and long ones."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import IO

from kvfence.scan.exchange import Place, Unread
from kvfence.scan.reading.lines import lines_of
from kvfence.scan.reading.record import BYTES_MAX, Record
from kvfence.scan.reading.source import Source

_BYTES_OF_NO_UTF8 = range(0xDC80, 0xDD00)


def csv_rows_of(source: Source, stream: IO[bytes]) -> Iterator[Record | Unread]:
    """The rows behind the one with the names. `offset` of a place is the number of the row, from 1.

    Raises:
        OSError: reading failed.
    """
    csv.field_size_limit(BYTES_MAX)
    text = _text(stream)
    header = next(text, "")
    names = next(csv.reader([header], delimiter=delimiter_of(header)), [])
    rows = csv.reader(text, delimiter=delimiter_of(header))
    number = 0
    while True:
        number += 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield Unread(source=source.number, line=number, why=f"row {number}: not CSV ({error})")
            continue
        if not row:
            continue
        if len(row) != len(names):
            why = f"row {number} has {len(row)} cells, and the header {len(names)}"
            yield Unread(source=source.number, line=number, why=why)
        elif any(ord(char) in _BYTES_OF_NO_UTF8 for cell in row if not cell.isascii() for char in cell):
            yield Unread(source=source.number, line=number, why=f"row {number}: not UTF-8")
        else:
            yield Record(Place(source=source.number, offset=number, line=number), dict(zip(names, row, strict=True)))


def delimiter_of(header: str) -> str:
    """What stands between the names of the columns: the most frequent of comma, semicolon and tab."""
    return max(",;\t", key=header.count)


def _text(stream: IO[bytes]) -> Iterator[str]:
    for raw in lines_of(stream, keep_empty=True):
        content = b"\n" if raw.content is None else raw.content
        yield content.decode("utf-8-sig" if not raw.offset else "utf-8", "surrogateescape")
