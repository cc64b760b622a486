"""`kvfence verify`: every interleaving of the handoff, or the shortest way to a leak. Options and exit codes only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from kvfence.cli.output import (
    Format,
    check_not_read,
    check_writable,
    exit_code,
    people_console,
    report_to,
    write_json,
)
from kvfence.errors import UsageError
from kvfence.findings.interleaving import Interleavings


class BoundName(StrEnum):
    """How much of a world is searched."""

    SMALL = "small"
    DEFAULT = "default"
    LARGE = "large"


def verify(
    *,
    rules: Annotated[
        str | None, typer.Option(help="Which rules the handoff runs under; fenced, or what engines had before a fix.")
    ] = None,
    bound: Annotated[BoundName, typer.Option(help="How much is searched.")] = BoundName.SMALL,
    wire: Annotated[
        str | None, typer.Option(help="push, two-sided or pull; without it, all of them, or where a rule was seen.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Make the moves of this trace again, a report written with --format json.")
    ] = None,
    output_format: Annotated[Format, typer.Option("--format", help="table or json.")] = Format.TABLE,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the report to this file.")] = None,
) -> None:
    """Search every interleaving of the handoff within a bound, and show the shortest way to a broken promise.

    What runs is core itself, the code that the cell runs, in a world where messages come late, twice or never, writes
    land when they land, clients hang up, leases run out and workers die. Exit codes: 0 every state was seen and every
    promise holds, 1 one is broken, 2 wrong use, 3 the bound's limit stopped the search.

    Example: kvfence verify --rules placeholder
    """
    check_writable(output)
    if replay is not None:
        check_not_read(output, [replay])
        if wire is not None or output_format is not Format.TABLE:
            raise UsageError("a replay takes its wire from the trace, and is shown as a table: leave --wire, --format")
        _replay(replay, rules, output)
        return
    began = monotonic()
    seen = _search(rules or "fenced", bound, wire, quiet=output_format is Format.JSON and output is None)
    _report(seen, monotonic() - began, output_format, output)
    raise typer.Exit(exit_code(seen.verdict))


def _search(rules: str, bound: BoundName, wire: str | None, *, quiet: bool) -> Interleavings:
    from kvfence.verify.asked import rules_named, wires_named  # noqa: PLC0415 — no other command pays for loading it
    from kvfence.verify.outcome import verified  # noqa: PLC0415 — the same
    from kvfence.verify.where_seen import bound_named  # noqa: PLC0415 — the same

    named = rules_named(rules)
    wires = wires_named(wire, named)
    with _progress(quiet=quiet) as on_layer:
        return verified(named, wires, bound_named(bound, named), on_layer)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    console = people_console(machine_on_stdout=quiet)
    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("searching", total=None)

        def on_layer(wire: str, depth: int, states: int) -> None:
            progress.update(task, description=f"{wire}: depth {depth}, {states:,} states")

        yield on_layer


def _report(seen: Interleavings, took_s: float, output_format: Format, output: Path | None) -> None:
    from kvfence.report.verify_json import document  # noqa: PLC0415 — no other command pays for loading it
    from kvfence.report.verify_terminal import print_interleavings  # noqa: PLC0415 — the same

    machine = output_format is Format.JSON
    if machine:
        write_json(document(seen, took_s=took_s), output)
    else:
        report_to(lambda console: print_interleavings(seen, console, took_s=took_s), output)
    print_interleavings(seen, people_console(machine_on_stdout=machine and output is None), took_s=took_s)


def _replay(file: Path, rules: str | None, output: Path | None) -> None:
    """First in the checker's world, then the moves that could be made there in the running cell."""
    from kvfence.cell.retrace import in_words  # noqa: PLC0415 — no other command pays for loading it
    from kvfence.report.verify_terminal import print_replay  # noqa: PLC0415 — the same
    from kvfence.verify.asked import rules_named, trace_in  # noqa: PLC0415 — the same
    from kvfence.verify.outcome import replay_of  # noqa: PLC0415 — the same

    setting, moves = trace_in(file, None if rules is None else rules_named(rules))
    again = replay_of(setting, moves)
    again = replace(again, in_cell=in_words(setting, moves[: len(again.steps)]))
    report_to(lambda console: print_replay(again, console), output)
    print_replay(again, people_console(machine_on_stdout=False))
    raise typer.Exit(exit_code(again.verdict))
