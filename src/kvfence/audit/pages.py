"""The page of each rule, made of its docstring: `python -m kvfence.audit.pages docs/rules` writes them all."""

from __future__ import annotations

import sys
from pathlib import Path

from kvfence.audit.catalogue import cards
from kvfence.findings.rule_card import RuleCard


def page(rule: RuleCard) -> str:
    """A rule's page, Markdown."""
    return f"# {rule.code} {rule.id}\n\n{rule.page.rstrip()}\n"


def index() -> str:
    """The list of all rules by code, Markdown; `kvfence explain CODE` prints a page."""
    lines = "".join(f"| {rule.code} | [{rule.id}]({rule.id}.md) | {rule.title} |\n" for rule in cards())
    heading = "# Rules of `kvfence audit` and `kvfence gate`, findings of `kvfence probe` and `kvfence scan`"
    return f"{heading}\n\n| code | rule | what it says |\n| --- | --- | --- |\n{lines}"


def write_all(folder: Path) -> None:
    """Write every page and the index; a page of no rule is removed."""
    wanted = {f"{rule.id}.md": page(rule) for rule in cards()} | {"README.md": index()}
    folder.mkdir(parents=True, exist_ok=True)
    for stale in {path.name for path in folder.glob("*.md")} - wanted.keys():
        (folder / stale).unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
