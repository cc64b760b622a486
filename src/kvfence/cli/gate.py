"""`kvfence gate`: has anything moved the wrong way since the baseline? Options and exit codes only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
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
from kvfence.errors import UsageError
from kvfence.findings.finding import Finding, Severity
from kvfence.findings.level import Level
from kvfence.report.audit_formats import AuditFormat


def gate(
    targets: Annotated[list[str], typer.Argument(metavar="TARGET", help="As for audit; - is standard input.")],
    *,
    baseline: Annotated[Path, typer.Option("--baseline", help="The lock file.")] = Path("kvfence.lock"),
    write: Annotated[
        bool, typer.Option("--write", help="Record these targets as the baseline; compare nothing.")
    ] = False,
    tolerance: Annotated[
        str,
        typer.Option(
            "--tolerance",
            help="By how much a pool, or a limit that follows from it, may shrink without falling below its context.",
        ),
    ] = "2%",
    api_key_env: ApiKeyEnvOption = None,
    output_format: FormatOption = AuditFormat.TABLE,
    output: OutputOption = None,
    fail_on: FailOnOption = Level.NOTE,
    exit_zero: ExitZeroOption = False,
) -> None:
    """Compare a deployment with its lock file: has a pool, limit, version or check moved in the wrong direction?

    What moved is told beside what else changed: quantisation, parallelism, memory fraction, CUDA graphs. The gate knows
    the baseline only; whether a deployment is right at all is for `kvfence audit` to say. Exit codes: 0 nothing moved
    the wrong way (or written), 1 something did, 2 the lock file or a target could not be read, 3 a node or a fact of
    the baseline was not seen.

    Example: kvfence gate --baseline kvfence.lock --tolerance 2% prefill.log decode.log
    """
    from kvfence.audit.baseline import check, record  # noqa: PLC0415 — no other command pays for loading it
    from kvfence.facts.endpoints.fetch import Access  # noqa: PLC0415 — the same

    began = monotonic()
    check_not_read(output, (*targets, baseline))
    if write:
        check_not_read(baseline, targets)
    check_writable(output)
    allowed = _share(tolerance)
    access = Access(api_key=api_key(api_key_env))
    if write:
        recorded = record(targets, baseline, access=access)
        result = recorded.result
        typer.echo(f"{baseline}: {'written' if recorded.changed else 'unchanged'}{_amiss(recorded.amiss)}", err=True)
    else:
        result = check(targets, baseline, tolerance=allowed, access=access)
    write_audit(result, output_format, output, run_of("gate", began=began))
    raise typer.Exit(exit_of(result, fail_on, exit_zero=exit_zero))


def _share(text: str) -> float:
    """`2%`, or `2`, as 0.02."""
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent < 100:  # noqa: PLR2004 — all of it
        raise UsageError(f"--tolerance {text}: give percent from 0 to below 100, such as 2%")
    return percent / 100


def _amiss(findings: Sequence[Finding]) -> str:
    """That what was recorded is not right, where an audit finds so: the gate passes whatever stays as bad as it was."""
    counts = Counter(finding.severity for finding in findings)
    worst = ", ".join(f"{counts[severity]} {severity}" for severity in Severity if counts[severity])
    return f"; kvfence audit finds something amiss in what it records ({worst}), and the gate will not" if worst else ""
