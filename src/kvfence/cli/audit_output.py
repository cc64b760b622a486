"""How `audit` and `gate` hand back what they found: a report in any format, a table for people, an exit code."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kvfence.cli.exits import ExitCode
from kvfence.cli.output import exit_code, hand_back
from kvfence.findings.deployment import AuditResult
from kvfence.findings.level import Level
from kvfence.report.audit_formats import AuditFormat, rendered
from kvfence.report.run import Run

FormatOption = Annotated[
    AuditFormat, typer.Option("--format", help="A table for people, or a report for a machine or a reader.")
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the report here; the table is printed as well.")
]
FailOnOption = Annotated[
    Level, typer.Option("--fail-on", help="Exit 1 from this level on: error is critical and high, warning medium.")
]
ExitZeroOption = Annotated[bool, typer.Option("--exit-zero", help="Exit 0 even if something was found; 2 and 3 stay.")]


def write_audit(result: AuditResult, form: AuditFormat, output: Path | None, run: Run) -> None:
    """The report in that format, and the table for people."""
    from kvfence.report.audit_terminal import print_audit  # noqa: PLC0415 — loaded once there is something to print

    show, report = partial(print_audit, result), partial(rendered, result, form, run)
    hand_back(show, report, output, machine=form is not AuditFormat.TABLE)


def exit_of(result: AuditResult, fail_on: Level, *, exit_zero: bool) -> ExitCode:
    """The exit code when findings below that level are forgiven."""
    return exit_code(result.verdict_from(fail_on), exit_zero=exit_zero)
