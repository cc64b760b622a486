"""docs/fault-matrix.md and its picture, drawn from the results that `make matrix` has stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STORED = Path(__file__).resolve().parents[2] / "docs" / "fault-matrix.json"
_FILLS = {"text": "#d9480f", "wrong": "#f2c14e", "": "#dfeee3"}
_SHOWN = {"text": "**text**", "wrong": "wrong", "": "-"}
_LABEL_WIDTH, _CELL_WIDTH, _ROW = 250, 74, 24

HEAD = """# Faults and layers

Which layer stops which fault when it stands alone. Written from stored results by `make docs`; `make matrix` runs it
all and stores them. Nothing here is entered by hand.

![Faults by layers](diagrams/fault-matrix.svg)

- **text**: another tenant's slots were read for the answer, and the answer was wrong as well.
- wrong: an answer came with status 200 and was not what it should have been; nobody else's text was in it.
- `-`: neither. The request was answered rightly, or ended with an error and no text.

| column | what is on |
| --- | --- |
| `none`, `all` | no layer; every layer |
| `I1` | a prompt that does not fit is refused at the door |
| `I2-count` | tokens, pages, room, epochs and layout are what was reserved |
| `I2-digest` | what lies in the pages is what prefill attested |
| `I3` | a stale write is refused, or waited out |
| `I4` | a read that ended under other epochs than it began is discarded |
| `I5` | slots behind the filled length are not read, and pages that change tenant are cleared |
"""
HOW = """
## How it was run

*cell*: real drivers, pages, digests and model (`cell/tampering.py`, `cell/ablation.py`), each fault made at the
moments that matter; one leak is a leak. Text is what the taint oracle saw read, a wrong answer
differs from the honest one, byte by byte. *checker*: every order of events of two requests with one such fault at any
moment (`verify/reach.py`), so `-` means that none was found in all of them.
There is no column for tags: core keeps no sign beside a page that says whose it is.
"""
SAYS = """
## What it says

- No layer alone stops all, and each of I1, I3 and I4 stops what it is there for. `I2-digest` stops the most, and sees
  nothing that happens after it has looked: a late write, a flipped bit in decode's own memory.
- `I2-digest` alone accepts another layout, whose bytes arrive just as they were sent: the layout is bound by
  `I2-count`.
- Two rows are not stopped by all layers together. A bit that flips in memory after the seal gives a wrong answer and
  nobody's text; that is for ECC memory. Stale pages whose digests agree by accident are read: against
  bytes that changed on the way there is only the digest, of 128 bits, seeded by the room ([decision
  5](decisions/0005-page-digest.md)).
- Three faults harm nobody even with no layer: a message that comes twice (rooms are never used twice, and a table has
  a row for what comes late), a worker's death where it writes (its writes die with the
  connection), a clock that is set back.
- On the two-sided wire the manifest can overtake its pages; then the order itself is the fault, and without
  `I2-digest` old text is read. One ordered connection has no such order.
"""


def stored() -> dict[str, Any]:
    """What `make matrix` found."""
    document: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return document


def verdict(cell: dict[str, Any]) -> str:
    """One of the three."""
    return "text" if cell["foreign"] else "wrong" if cell["wrong"] else ""


def page() -> str:
    """docs/fault-matrix.md."""
    found = stored()
    columns = found["columns"]
    lines = [
        "| fault | run by | " + " | ".join(f"`{column}`" for column in columns) + " |",
        "| --- | --- |" + " --- |" * len(columns),
        *(_row(row) for row in found["rows"]),
    ]
    runs = sum(len(cell["ended"]) for row in found["rows"] for cell in row["cells"])
    size = f"{len(found['rows'])} faults, {len(columns)} columns, {runs} runs"
    took = f"{size}; {found['seconds']} s on one core of a machine of two busy ones (Python 3.11).\n"
    what = [
        "",
        "## The faults",
        "",
        "| | |",
        "| --- | --- |",
        *(f"| {row['fault']} | {row['what']} |" for row in found["rows"]),
    ]
    return "\n".join([HEAD, "## The matrix", "", *lines, "", took + "\n".join(what), HOW + SAYS])


def _row(row: dict[str, Any]) -> str:
    shown = " | ".join(_SHOWN[verdict(cell)] for cell in row["cells"])
    return f"| {row['fault']} | {row['by']} | {shown} |"


def picture() -> str:
    """The matrix as an SVG picture."""
    found = stored()
    columns, rows = found["columns"], found["rows"]
    width = _LABEL_WIDTH + len(columns) * _CELL_WIDTH + 10
    height = (len(rows) + 1) * _ROW + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">',
        '<g font-family="sans-serif" font-size="12">',
        *(_text(_LABEL_WIDTH + at * _CELL_WIDTH + 6, 18, column) for at, column in enumerate(columns)),
    ]
    for line, row in enumerate(rows, 1):
        y = line * _ROW + 4
        parts.append(_text(8, y + 15, row["fault"]))
        for at, cell in enumerate(row["cells"]):
            x, kind = _LABEL_WIDTH + at * _CELL_WIDTH, verdict(cell)
            box = f'x="{x}" y="{y}" width="{_CELL_WIDTH - 4}" height="{_ROW - 4}" rx="3"'
            parts.append(f'<rect {box} fill="{_FILLS[kind]}"/>')
            parts.append(_text(x + 8, y + 14, kind))
    legend = "text: another tenant's slots were read.   wrong: a wrong answer, nobody's text.   empty: neither."
    parts.append(_text(8, height - 12, legend))
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _text(x: int, y: int, words: str) -> str:
    return f'<text x="{x}" y="{y}">{words}</text>' if words else ""
