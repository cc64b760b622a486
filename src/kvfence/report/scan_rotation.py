"""The list of secrets to rotate, for those who rotate them: what each is and where it was seen, never what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath

from kvfence.errors import UsageError
from kvfence.findings.exposure import Exposure
from kvfence.report.csv_table import Cell, csv_text, ids_cell
from kvfence.report.markdown_cells import literal, table
from kvfence.report.plain_scan import plain_scan
from kvfence.report.scan_order import to_rotate_first
from kvfence.report.scan_words import counted, reach
from kvfence.report.times import at_utc

COLUMNS = (
    *("kind", "redacted", "fingerprint", "first_seen_utc", "last_seen_utc", "requests", "request_ids", "owner"),
    "in_foreign_answer",
)
_SAID = "No value is in this list; a fingerprint is a keyed hash, which finds the value again with the same key."


def writer_for(file: PurePath) -> Callable[[Exposure], str]:
    """What writes such a file, by the end of its name.

    Raises:
        UsageError: it ends with neither `.csv` nor `.md`.
    """
    writers = {".csv": as_csv, ".md": as_markdown}
    if file.suffix.lower() not in writers:
        raise UsageError(f"{file}: a rotation list is .csv or .md; name it so")
    return writers[file.suffix.lower()]


def as_csv(seen: Exposure) -> str:
    """One row a secret, those first that somebody else was shown."""
    return csv_text(COLUMNS, _rows(plain_scan(seen)))


def as_markdown(seen: Exposure) -> str:
    """The same as a page, with what it does not reach to."""
    seen = plain_scan(seen)
    parts = [
        "# Secrets to rotate\n",
        f"{counted(len(seen.credentials), 'secret')}, those first that stood in an answer to somebody else. {_SAID}\n",
    ]
    if seen.credentials:
        shown = (["" if cell is None else _worded(cell) for cell in row] for row in _rows(seen))
        parts.append(table([name.replace("_utc", " (UTC)").replace("_", " ") for name in COLUMNS], shown))
    parts += [f"- {literal(line)}\n" for line in reach(seen)]
    return "\n".join(parts)


def _rows(seen: Exposure) -> Iterator[list[Cell]]:
    for one in to_rotate_first(seen):
        yield [
            one.kind,
            one.redacted,
            one.fingerprint,
            at_utc(one.first_ms),
            at_utc(one.last_ms),
            len(one.requests),
            ids_cell(one.requests),
            one.owner,
            one.in_foreign_answer,
        ]


def _worded(cell: str | float) -> str:
    return ("yes" if cell else "no") if isinstance(cell, bool) else str(cell)
