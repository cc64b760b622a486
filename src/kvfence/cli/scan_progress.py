"""How far a scan is: a bar on a terminal, a plain line now and then elsewhere; both on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from kvfence.cli.output import people_console

LINE_EVERY_S = 30.0

Told = Callable[[str, int, int], None]
"""Told what is done, how much of it, and of how much."""


@contextmanager
def scan_progress(*, report_on_stdout: bool) -> Iterator[Told]:
    """What is told whenever a piece of the inputs is done.

    `report_on_stdout`: plain lines would get between its lines wherever both streams end in one file.
    """
    console = people_console(machine_on_stdout=True)
    if console.is_terminal and not console.is_dumb_terminal:
        with _bar(console) as told:
            yield told
    else:
        yield _nobody if report_on_stdout else _Lines(console)


@contextmanager
def _bar(console: Console) -> Iterator[Told]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("looking at the inputs", total=None)
        last = ""

        def told(doing: str, done: int, of: int) -> None:
            nonlocal last
            progress.update(task, description=doing, completed=done, total=of, refresh=doing != last)
            last = doing

        yield told


def _nobody(_doing: str, _done: int, _of: int) -> None:
    """Nobody is told."""


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = monotonic()

    def __call__(self, doing: str, done: int, of: int) -> None:
        if monotonic() - self._last >= LINE_EVERY_S:
            self._last = monotonic()
            self._console.print(Text(f"{doing}: {done / of:.0%}"), soft_wrap=True)
