"""A source tree for a person at a terminal: each fix, whether it is in, why, and the line that decided."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from kvfence.findings.source_tree import FixVerdict, Presence, SourceTree

_STYLES = {Presence.PRESENT: "green", Presence.ABSENT: "bold red", Presence.CANNOT_TELL: "yellow"}


def tree_table(tree: SourceTree) -> Table:
    """One tree. What it calls itself stands in the title, and decides nothing."""
    said = f", calls itself {tree.version_said}" if tree.version_said else ""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"{tree.name} ({tree.engine}{said})", title_justify="left")
    for title in ("fix", "in this tree", "why", "where"):
        table.add_column(title, overflow="fold")
    for verdict in tree.verdicts:
        table.add_row(
            Text(verdict.fix),
            Text(verdict.presence.value, style=_STYLES[verdict.presence]),
            Text(verdict.reason),
            Text(_where(tree, verdict)),
        )
    return table


def _where(tree: SourceTree, verdict: FixVerdict) -> str:
    return verdict.seen.place.removeprefix(tree.name).removeprefix("/") if verdict.seen else ""
