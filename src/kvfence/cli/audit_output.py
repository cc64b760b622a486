"""How `audit` and `gate` hand back what they found: a report in any format, a table for people, an exit code."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from kvfence.cli.exits import ExitCode
from kvfence.cli.output import exit_code, people_console, write_text
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


def run_of(command: str, *, began: float) -> Run:
    """The run that ends now; `began` is what `monotonic` said when the command started."""
    return Run(command=command, at=datetime.now(UTC), took_s=monotonic() - began)


def write_audit(result: AuditResult, form: AuditFormat, output: Path | None, run: Run) -> None:
    """Write the report; print the table too, on standard error when standard output belongs to the report."""
    from kvfence.report.audit_terminal import print_audit  # noqa: PLC0415 — loaded once there is something to print

    machine_on_stdout = form is not AuditFormat.TABLE and output is None
    if output is not None or machine_on_stdout:
        write_text(rendered(result, form, run), output)
    print_audit(result, people_console(machine_on_stdout=machine_on_stdout))


def exit_of(result: AuditResult, fail_on: Level, *, exit_zero: bool) -> ExitCode:
    """The exit code when findings below that level are forgiven."""
    return exit_code(result.verdict_from(fail_on), exit_zero=exit_zero)
