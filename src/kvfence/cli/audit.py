"""`kvfence audit`: what is wrong with this deployment, by its logs. Options and exit codes only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kvfence.cli.output import Format, check_writable, exit_code, people_console, write_json, write_text


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
    from kvfence.report import audit_json, audit_terminal  # noqa: PLC0415 — the same

    check_writable(output)
    result = inspect(files)
    if output_format is Format.JSON:
        write_json(audit_json.document(result), output)
    elif output is not None:
        write_text(audit_terminal.as_text(result), output)
    machine_on_stdout = output_format is Format.JSON and output is None
    audit_terminal.print_audit(result, people_console(machine_on_stdout=machine_on_stdout))
    raise typer.Exit(exit_code(result.verdict, exit_zero=exit_zero))
