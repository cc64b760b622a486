"""A scan for whoever has to answer for it: the three questions first, then what was found, then what was not seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rich.console import Console, Group, RenderableType
from rich.text import Text

from kvfence.findings.exposure import Exposure
from kvfence.findings.verdict import Verdict
from kvfence.report.as_text import page_text
from kvfence.report.scan_words import answers, not_read_lines, reach, verdict_line

NOT_READ_MAX = 20
_STYLES = {Verdict.FOUND: "bold red", Verdict.UNKNOWN: "bold yellow", Verdict.CLEAN: "bold green"}


def print_scan(seen: Exposure, console: Console) -> None:
    """Print the whole of it."""
    console.print(Group(*_parts(seen)), soft_wrap=False)


def as_text(seen: Exposure) -> str:
    """What a terminal would show."""
    return page_text(partial(print_scan, seen))


def _parts(seen: Exposure) -> Iterator[RenderableType]:
    yield Text(verdict_line(seen), style=_STYLES[seen.verdict])
    for question, answer in answers(seen):
        yield Text.assemble((f"{question} ", "bold"), answer)
    for line in reach(seen):
        yield Text(line, style="yellow")
    for line in not_read_lines(seen, NOT_READ_MAX):
        yield Text(f"  {line}", style="dim")
