"""Rules for a person at a terminal: one page, or the list of all."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from kvfence.findings.rule_card import RuleCard


def print_rule(card: RuleCard, console: Console) -> None:
    """The rule's page, drawn on a terminal and as it is written elsewhere."""
    head = f"{card.code} {card.id}"
    if console.is_terminal:
        console.print(Text(head, style="bold"), Markdown(card.page), sep="\n\n")
    else:
        console.print(Text(f"{head}\n\n{card.page}"), soft_wrap=True)


def print_rules(cards: Iterable[RuleCard], console: Console) -> None:
    """Every rule on a line of its own."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("code", no_wrap=True)
    table.add_column("rule", no_wrap=True)
    table.add_column("what it says")
    for card in cards:
        table.add_row(Text(card.code, style="bold"), Text(card.id), Text(card.title))
    console.print(table)
