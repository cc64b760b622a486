"""Where a report goes: a table for people always, and a machine format to a file or to standard output."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Literal

from rich.console import Console

from kvfence.cli.exits import ExitCode
from kvfence.cli.streams import ReportConsole, print_to_nobody
from kvfence.errors import TargetError, UsageError
from kvfence.findings.verdict import Verdict
from kvfence.report.as_text import FILE_COLUMNS, json_text, page_text
from kvfence.report.run import Run


class Format(StrEnum):
    """How a report is written."""

    TABLE = "table"
    JSON = "json"


_EXITS = {Verdict.CLEAN: ExitCode.CLEAN, Verdict.FOUND: ExitCode.FOUND, Verdict.UNKNOWN: ExitCode.INCONCLUSIVE}


def exit_code(verdict: Verdict, *, exit_zero: bool = False) -> ExitCode:
    """The exit code of a verdict; with `--exit-zero`, for pipelines that read the report, a finding is 0 too."""
    code = _EXITS[verdict]
    return ExitCode.CLEAN if exit_zero and code is ExitCode.FOUND else code


def people_console(*, machine_on_stdout: bool) -> ReportConsole:
    """Where the table goes: standard error when standard output belongs to a machine format."""
    console = ReportConsole(stderr=machine_on_stdout, highlight=False)
    return (
        console if console.is_terminal else ReportConsole(stderr=machine_on_stdout, highlight=False, width=FILE_COLUMNS)
    )


def check_writable(*outputs: Path | None) -> None:
    """Raise `TargetError` for a file that could not be written, before minutes of work are spent on it."""
    for output in outputs:
        if output is None:
            continue
        existed = output.exists()
        write_text("", output, mode="a")
        if not existed:
            output.unlink()


def check_not_read(output: Path | None, read: Iterable[str | Path]) -> None:
    """Raise `UsageError` where a report would be written over something that is read: a log is the evidence."""
    for source in read if output is not None and output.exists() else ():
        if os.path.exists(source) and os.path.samefile(source, str(output)):  # noqa: PTH110, PTH121 — a target may be any text
            raise UsageError(f"{output} is one of the files that are read; write the report to another file")


def run_of(command: str, *, began: float) -> Run:
    """The run that ends now; `began` is what `monotonic` said when the command started."""
    return Run(command=command, at=datetime.now(UTC), took_s=monotonic() - began)


def hand_back(
    show: Callable[[Console], None],
    report: Callable[[], str],
    output: Path | None,
    *,
    machine: bool,
    is_private: bool = False,
) -> None:
    """Write the report; print the table too, on standard error when standard output belongs to the report.

    `machine`: the report is no table, so that without a file it goes to standard output. `is_private`: a file is for
    its owner only.
    """
    machine_on_stdout = machine and output is None
    if output is not None or machine_on_stdout:
        write_text(report(), output, is_private=is_private)
    show(people_console(machine_on_stdout=machine_on_stdout))


def report_to(show: Callable[[Console], None], output: Path | None) -> None:
    """Write what `show` prints to a file as well, if one is named."""
    if output is not None:
        write_text(page_text(show), output)


def write_json(document: Mapping[str, object], output: Path | None) -> None:
    """Write a document to a file, or to standard output."""
    write_text(json_text(document), output)


def write_text(text: str, output: Path | None, *, mode: Literal["w", "a"] = "w", is_private: bool = False) -> None:
    """Write a report to a file, or to standard output. A private file is its owner's alone, if it is new or not."""
    if output is None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:  # `| head`: the reader has what it wanted
            print_to_nobody()
        return
    try:
        with open(output, mode, encoding="utf-8", opener=_owners if is_private else None) as file:
            file.write(text)
    except OSError as error:
        raise TargetError(f"cannot write {output}: {error.strerror}. Name another file") from error


def _owners(path: str, flags: int) -> int:
    """Opened so that nobody else can read it, before anything is in it. A device or a pipe stays as it is."""
    descriptor = os.open(path, flags & ~os.O_TRUNC, 0o600)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.fchmod(descriptor, 0o600)
            if flags & os.O_TRUNC:
                os.ftruncate(descriptor, 0)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
