"""Where a running probe is told: a few live lines on a terminal, else a plain line now and then, on standard error."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Self

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from kvfence.cli.output import people_console
from kvfence.findings.progress import Progress
from kvfence.report.probe_progress import progress_line, progress_lines

LINE_EVERY_S = 10.0
LINE_EVERY_SHARE = 1 / 20
"""Of the time that is gone: so a campaign of a day is a hundred lines, and not thousands."""

Told = Callable[[Progress], None]


def progress_of(*, quiet: bool, report_on_stdout: bool) -> Progressing:
    """What is told how far the probe is, for as long as a `with` lasts.

    `report_on_stdout`: plain lines would get between its lines wherever both streams end in one file.
    """
    console = people_console(machine_on_stdout=True)
    if quiet:
        return Progressing(console)
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveLines(console)
    return Progressing(console) if report_on_stdout else PlainLines(console)


class Progressing:
    """Says a line where it must; how far the probe is, nobody is told."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @property
    def watch(self) -> Told | None:
        """What is told whenever a request begins or ends; None: nobody wants to know."""
        return None

    def say(self, line: str) -> None:
        """Print a line that is no progress."""
        self._console.print(Text(line), soft_wrap=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left to do."""


class _Latest(Progressing):
    """What was told last, and when; drawn as it is at that moment."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._told: tuple[Progress, float] | None = None

    @property
    def watch(self) -> Told | None:
        """Keeps what it is told."""
        return self._tell

    def _tell(self, progress: Progress) -> None:
        self._told = (progress, monotonic())

    def now(self) -> tuple[Progress, float] | None:
        """The progress, and the seconds that are gone by now."""
        if self._told is None:
            return None
        progress, at = self._told
        return progress, progress.seconds + monotonic() - at


class LiveLines(_Latest):
    """Lines that are drawn again and again, and are gone in the end."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._live = Live(self, console=console, transient=True, refresh_per_second=4, redirect_stdout=False)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As it is now, for a refresh."""
        del console, options
        now = self.now()
        yield Text("asking the endpoint what it is", "bold") if now is None else progress_lines(*now)


class PlainLines(_Latest):
    """A line now and then, however long one request takes."""

    def __init__(self, console: Console, every_s: float = LINE_EVERY_S) -> None:
        super().__init__(console)
        self._every_s = every_s
        self._over = Event()
        self._thread = Thread(target=self._print_lines, daemon=True, name="kvfence-progress")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _print_lines(self) -> None:
        wait_s = self._every_s
        while not self._over.wait(wait_s):
            if (now := self.now()) is not None:
                self._console.print(Text(progress_line(*now)), soft_wrap=True)
                wait_s = max(self._every_s, now[1] * LINE_EVERY_SHARE)
