"""Tables as CSV (RFC 4180) that a spreadsheet can open: no cell is a formula, whatever a client sent as its name.

A spreadsheet runs a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return, and some take a semicolon
or a tab for the border of a cell. Source: owasp.org/www-community/attacks/CSV_Injection.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

Cell = str | int | float | bool | None

IDS_MAX = 20
"""Ids in one cell. A spreadsheet cuts a cell at 32,767 characters; JSON has all of them."""
CELL_CHARS_MAX = 8_000
"""Of one text: four times that is the least that a spreadsheet keeps."""

_FULL_WIDTH = "".join(chr(ord(mark) - 0x20 + 0xFF00) for mark in "=+-@")
"""Some spreadsheets in East Asian languages take these for the same."""
_STARTS_FORMULA = re.compile(rf"(^|[,;|\t\r\n\"'])(\s*)(?=[=+\-@\t\r{_FULL_WIDTH}])")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """The table with its header. Texts must be plain; they are quoted, figures are not."""
    page = io.StringIO()
    writer = csv.writer(page, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return page.getvalue()


def harmless(text: str) -> str:
    """The text with an apostrophe before all that a spreadsheet might take for a formula."""
    return _STARTS_FORMULA.sub(r"\1\2'", text)


def ids_cell(ids: Sequence[str]) -> str:
    """Ids, parted by spaces; of more than `IDS_MAX` how many more."""
    more = len(ids) - IDS_MAX
    return " ".join(ids[:IDS_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _cell(value: Cell) -> str | int | float:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            cut = value if len(value) <= CELL_CHARS_MAX else value[:CELL_CHARS_MAX] + "…"
            return harmless(cut)
        case _:
            return value
