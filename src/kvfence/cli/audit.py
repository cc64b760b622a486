"""`kvfence audit`: what is wrong with this deployment, by its logs. Options and exit codes only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kvfence.cli.audit_output import exit_of, write_audit
from kvfence.cli.output import check_writable
from kvfence.findings.level import Level
from kvfence.report.audit_formats import AuditFormat


def audit(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Logs of SGLang, vLLM or the cell; - is stdin.")],
    *,
    output_format: Annotated[
        AuditFormat, typer.Option("--format", help="A table for people, or a report for a machine or a reader.")
    ] = AuditFormat.TABLE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the report here; the table is printed as well.")
    ] = None,
    fail_on: Annotated[
        Level, typer.Option("--fail-on", help="Exit 1 from this level on: error is critical and high, warning medium.")
    ] = Level.NOTE,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 even if something was found.")] = False,
) -> None:
    """Read start-up logs and say what is wrong: pool below context, unequal pools, checks off, refusals seen.

    Give the logs of all workers of a deployment at once, so that they are compared. Exit codes: 0 clean, 1 found,
    2 a log could not be read, 3 inconclusive (a pool or context is in no log, or no engine was recognised).

    Example: kvfence audit prefill.log decode.log --format html -o audit.html
    """
    from kvfence.audit import inspect  # noqa: PLC0415 — no other command pays for loading it

    check_writable(output)
    result = inspect(files)
    write_audit(result, output_format, output, command="audit")
    raise typer.Exit(exit_of(result, fail_on, exit_zero=exit_zero))
