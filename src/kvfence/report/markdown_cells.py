"""Text from outside as text of Markdown: nothing in it makes a heading, a link, an element or a border of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKS = re.compile(r"[\\`*_\[\]<>#|~$&@]|:(?=//)|(?<=www)\.|^[-+=]", re.IGNORECASE)
"""Also what some readers make links and mentions of by themselves, and what makes a list at the start of a line."""
_NUMBER = re.compile(r"^(\d{1,9})([.)])")


def literal(text: str) -> str:
    """The text, which must be plain, on one line and with every mark escaped."""
    return _NUMBER.sub(r"\1\\\2", _MARKS.sub(r"\\\g<0>", text.strip()))


def table(columns: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    """A table; texts of the rows are taken literally, those of the header are ours."""
    lines = [_row(columns), _row(["---"] * len(columns))]
    lines += [_row([literal(str(cell)) for cell in row]) for row in rows]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
