"""Several vendors as one table for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kvfence.findings.comparison import Comparison
from kvfence.report.comparison_rows import HEADINGS, NOT_PROBED, asked_at, rows_of, said_of_cost
from kvfence.report.probe_terminal import STYLES

_REFUSALS = {"honest": "green", "no": "bold red"}
"""By the first word."""


def show_comparison(comparison: Comparison, console: Console) -> None:
    """The table, then a sentence on each vendor."""
    rows = rows_of(comparison)
    table = Table(title=f"{len(rows)} providers, the same campaign", title_justify="left", title_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in {"declared", "verified"} else "left")
    for row in rows:
        table.add_row(
            Text(row.name),
            row.declared,
            row.verified,
            Text(row.first_failure),
            Text(row.refusals, _REFUSALS.get(row.refusals.split(":")[0], "yellow")),
            Text(row.verdict, STYLES.get(row.verdict, "yellow")),
        )
    console.print(table)
    for row in rows:
        style = STYLES.get(row.verdict, "yellow")
        said = f"{row.verdict}" if row.verdict != NOT_PROBED else NOT_PROBED
        console.print(Text.assemble(f"{row.name}: ", (said, style), f": {row.reason}"))
        console.print(Text(f"  {asked_at(row.provider)}", "dim"))
    console.print(Text(said_of_cost(comparison), "dim"))
