"""How `probe` hands back what it found, or would ask: a report in any format, a table for people."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from kvfence.cli.output import hand_back, people_console, report_to, write_json
from kvfence.errors import UsageError
from kvfence.findings.foreseen import Foreseen
from kvfence.findings.recall import ProbeResult
from kvfence.probe.stop import Stop
from kvfence.report.probe_formats import ProbeFormat, rendered
from kvfence.report.run import Run

_ONLY_OF_ONE_RUN = ("--format", "--output", "-o", "--journal", "--seed")
"""Options with a value that say where one run's results go, or whose value is known better."""


def write_probe(result: ProbeResult, form: ProbeFormat, output: Path | None, run: Run) -> None:
    """The report in that format, and the table for people."""
    from kvfence.report.probe_terminal import show_probe  # noqa: PLC0415 — loaded once there is something to print

    show, report = partial(show_probe, result), partial(rendered, result, form, run)
    hand_back(show, report, output, machine=form is not ProbeFormat.TABLE)


def check_format(form: ProbeFormat, *, dry_run: bool) -> None:
    """Raise `UsageError` for a format that has no words for what was not run."""
    if dry_run and form not in {ProbeFormat.TABLE, ProbeFormat.JSON}:
        raise UsageError(f"--format {form} is a report of results, and --dry-run has none; use table or json with it")


def write_plan(plan: Foreseen, form: ProbeFormat, output: Path | None) -> None:
    """The plan alike, as a table or as JSON."""
    from kvfence.report.probe_plan import document, show_plan  # noqa: PLC0415 — only for a plan

    _write_foreseen(partial(show_plan, plan), partial(document, plan), form, output)


def write_plans(plans: Mapping[str, Foreseen], form: ProbeFormat, output: Path | None) -> None:
    """The plans for several endpoints alike, by the endpoints' names."""
    from kvfence.report.probe_plan import documents, show_plans  # noqa: PLC0415 — only for a plan

    _write_foreseen(partial(show_plans, plans), partial(documents, plans), form, output)


def _write_foreseen(
    show: Callable[[Console], None],
    document: Callable[[], Mapping[str, object]],
    form: ProbeFormat,
    output: Path | None,
) -> None:
    machine = form is ProbeFormat.JSON
    show(people_console(machine_on_stdout=machine and output is None))
    if machine:
        write_json(document(), output)
    else:
        report_to(show, output)


def stopped_line(stop: Stop, result: ProbeResult | None, go_on: str) -> str:
    """What was done until it was stopped, what that cost, and how to go on.

    `result`: None where nothing was asked; `go_on`: the command that does, empty without a journal.
    """
    if result is None:
        return f"stopped by {stop.by} before anything was asked; nothing was spent"
    done = f"stopped by {stop.by} after {result.requests:,} requests"
    if spent := result.spent:
        usd = "" if spent.usd is None else f" for {spent.usd:,.4f} US dollars"
        done += f", {spent.prompt_tokens:,} prompt and {spent.answer_tokens:,} answer tokens{usd}"
    if stop.given_up:
        done += f", {stop.given_up:,} of them given up before the answer, which may be charged and is counted in full"
    if not go_on:
        return f"{done}; nothing of it is kept without --journal FILE: the next run begins anew and pays again"
    return f"{done}; to go on without asking anything twice: {go_on}"


def go_on(words: Sequence[str], *, url: str, shown: str) -> str:
    """The command line that goes on with a campaign that has a journal; words as `again` has them."""
    return shlex.join(("kvfence", *(shown if word == url else word for word in words)))


def again(words: Sequence[str], *, url: str, shown: str, seed: int) -> str:
    """The command line that makes the same requests once more.

    `words` as the program got them, without its name; `url` as it was given, `shown` as it may be printed.
    """
    kept: list[str] = []
    left = iter(words)
    for word in left:
        if word in _ONLY_OF_ONE_RUN:
            next(left, None)
        elif not word.startswith(tuple(f"{option}=" for option in _ONLY_OF_ONE_RUN)) and not _is_short_output(word):
            kept.append(shown if word == url else word)
    return shlex.join(("kvfence", *kept, "--seed", str(seed)))


def _is_short_output(word: str) -> bool:
    return word.startswith("-o") and len(word) > len("-o")
