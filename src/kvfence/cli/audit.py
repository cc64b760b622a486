"""`kvfence audit`: what is wrong with this deployment, by its logs and its answers. Options and exit codes only."""

from __future__ import annotations

from time import monotonic
from typing import Annotated

import typer

from kvfence.cli.api_key import ApiKeyEnvOption, api_key
from kvfence.cli.audit_output import (
    ExitZeroOption,
    FailOnOption,
    FormatOption,
    OutputOption,
    exit_of,
    write_audit,
)
from kvfence.cli.output import check_not_read, check_writable, run_of
from kvfence.findings.level import Level
from kvfence.report.audit_formats import AuditFormat


def audit(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET",
            help="Logs, scripts and YAML that launch servers (- is stdin), folders of these, http://HOST:PORT.",
        ),
    ] = None,
    *,
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="An engine's code: site-packages, an environment, a checkout, a .whl. Read, never run. "
            "May be given several times; no TARGET is needed then.",
            metavar="PATH",
        ),
    ] = None,
    api_key_env: ApiKeyEnvOption = None,
    output_format: FormatOption = AuditFormat.TABLE,
    output: OutputOption = None,
    fail_on: FailOnOption = Level.NOTE,
    exit_zero: ExitZeroOption = False,
) -> None:
    """Read logs and running servers and say what is wrong: pool below context, unequal pools, checks off, refusals.

    A log may be packed (gzip, xz, bzip2, zstd); a folder stands for the logs and launch files in it; rotated parts are
    read as one log. Give all workers of a deployment at once, so that they are compared; a log, a saved answer and an
    address of one worker become one node. Exit codes: 0 clean, 1 found, 2 a log could not be read or a server not
    reached, 3 inconclusive (a pool or context is nowhere told, or no engine was recognised).

    With --source it says which fixes are in that very tree, by what its code does, whatever its version says.

    Example: kvfence audit http://10.0.0.5:30000 http://10.0.0.6:30000 prefill.log --format html -o audit.html
    """
    from kvfence.audit import inspect  # noqa: PLC0415 — no other command pays for loading it
    from kvfence.facts.endpoints.fetch import Access  # noqa: PLC0415 — the same

    began = monotonic()
    check_not_read(output, targets or [])
    check_writable(output)
    result = inspect(targets or [], sources=source or [], access=Access(api_key=api_key(api_key_env)))
    write_audit(result, output_format, output, run_of("audit", began=began))
    raise typer.Exit(exit_of(result, fail_on, exit_zero=exit_zero))
