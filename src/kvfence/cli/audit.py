"""`kvfence audit`: what is wrong with this deployment, by its logs. Options and exit codes only."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kvfence.cli.exits import ExitCode
from kvfence.errors import UsageError
from kvfence.findings.deployment import AuditResult
from kvfence.findings.verdict import Verdict


class Format(StrEnum):
    """What is printed."""

    TABLE = "table"
    JSON = "json"


_EXITS = {Verdict.CLEAN: ExitCode.CLEAN, Verdict.FOUND: ExitCode.FOUND, Verdict.UNKNOWN: ExitCode.INCONCLUSIVE}


def audit(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Logs of SGLang, vLLM or the cell; - is stdin.")],
    *,
    output_format: Annotated[Format, typer.Option("--format", help="A table for people, or JSON.")] = Format.TABLE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the report here; the table is printed as well.")
    ] = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 even if something was found.")] = False,
) -> None:
    """Read start-up logs and say what is wrong: pool below context, unequal pools, checks off, refusals seen.

    Give the logs of all workers of a deployment at once, so that they are compared. Exit codes: 0 clean, 1 found,
    2 a log could not be read, 3 inconclusive (a pool or context is in no log, or no engine was recognised).

    Example: kvfence audit prefill.log decode.log --format json -o audit.json
    """
    from kvfence.audit import inspect  # noqa: PLC0415 — no other command pays for loading it

    result = inspect(files)
    _write(result, output_format, output)
    code = _EXITS[result.verdict]
    raise typer.Exit(ExitCode.CLEAN if exit_zero and code is ExitCode.FOUND else code)


def _write(result: AuditResult, output_format: Format, output: Path | None) -> None:
    if output is not None:
        try:
            output.write_text(_text(result, output_format), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{output}: the report cannot be written: {error.strerror or error}") from error
    if output is None and output_format is Format.JSON:
        typer.echo(_text(result, output_format), nl=False)
    else:
        _print_table(result)


def _text(result: AuditResult, output_format: Format) -> str:
    from kvfence.report import audit_json, audit_terminal  # noqa: PLC0415 — rich loads only when something is printed

    if output_format is Format.JSON:
        return json.dumps(audit_json.document(result), indent=2) + "\n"
    return audit_terminal.as_text(result)


def _print_table(result: AuditResult) -> None:
    from kvfence.report.audit_terminal import print_audit  # noqa: PLC0415 — the same

    print_audit(result)
