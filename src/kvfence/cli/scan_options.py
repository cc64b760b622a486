"""The options of `kvfence scan`, and what they stand for."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kvfence.errors import UsageError
from kvfence.report.scan_formats import ScanFormat

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Logs of requests and answers: files, folders, globs, http(s)://, s3://, gs://; plain, gz, zst, xz, bz2.",
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option("--input-format", metavar="NAME", help="The log format, where it is not told by its fields."),
]
MappingFile = Annotated[
    str | None,
    typer.Option(
        "--mapping", metavar="FILE", help="A TOML file that says where in the records of another log what is."
    ),
]
ExposedAfter = Annotated[
    int | None,
    typer.Option("--exposed-after", metavar="LENGTH", min=0, help="Ask about prompts of more tokens than this."),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", help="Ask about requests from then on: a date or ISO time, UTC."),
]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Ask about requests before then.")]
Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Ask about models that have this in their name.")
]
Incident = Annotated[
    bool,
    typer.Option(
        "--incident",
        help="Ask about the exposure of 2026: GLM-5.3, over 681,280 tokens, 27 August to 9 September. "
        "Other options replace its parts.",
    ),
]
PersonalData = Annotated[
    bool,
    typer.Option(
        "--personal-data", help="Look for e-mail addresses, telephone numbers, IBANs and payment cards as well."
    ),
]
GenericSecrets = Annotated[
    bool,
    typer.Option("--generic-secrets", help="Look for random values of what is named password, secret or key as well."),
]
FingerprintKey = Annotated[
    str | None,
    typer.Option(
        "--fingerprint-key",
        metavar="FILE",
        help="The key of secrets' fingerprints, made there when there is none; without it those of two runs differ.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="TOKENS",
        min=1,
        help="What the deployment could hold: a longer prompt that was answered is a sign.",
    ),
]
Audit = Annotated[
    Path | None,
    typer.Option(
        "--audit", metavar="FILE", help="Take --limit from this report of kvfence audit --format json.", dir_okay=False
    ),
]


class Keeping(StrEnum):
    """What must be kept apart, as it is asked for."""

    AUTO = "auto"
    TENANT = "tenant"
    SESSION = "session"


IsolationOption = Annotated[
    Keeping,
    typer.Option(
        "--isolation",
        help="Whose text is foreign: another tenant's, or another session's as well. Without it, sessions are kept "
        "apart only where a log names one tenant or none.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, help="Processes that read at a time; without it, one for each core."),
]
Work = Annotated[
    Path | None,
    typer.Option(
        "--work",
        metavar="FOLDER",
        help="Keep what is found on the way here until the scan is over: started again after a kill, it goes on.",
        file_okay=False,
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Run on a Ray cluster (extra ray) with --workers; local begins one here. Nodes must see files and --work.",
    ),
]
Spark = Annotated[
    str | None,
    typer.Option("--spark", metavar="MASTER", help="The same on Spark (extra spark); local[2,4] begins one here."),
]
FormatOption = Annotated[
    ScanFormat, typer.Option("--format", help="A table for people, or a report for a machine or a reader.")
]
Rotation = Annotated[
    Path | None,
    typer.Option("--rotation", metavar="FILE", help="Write the list of secrets to rotate here: FILE.csv or FILE.md."),
]
LetterFor = Annotated[
    str | None,
    typer.Option(
        "--letter-for",
        metavar="TENANT",
        help="With --format markdown: a letter to that tenant, of what concerns it alone; else one to a regulator.",
    ),
]
Trail = Annotated[
    Path | None,
    typer.Option(
        "--trail",
        metavar="FILE",
        help="Add to this audit trail what is read, with SHA-256, and what is written: a line before and a line after.",
    ),
]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact/--no-redact",
        help="Show four characters of foreign text, or its plain words: no figure, no address, nothing like a key.",
    ),
]


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def rules_folder() -> Path:
    """Where compiled rules are kept for the next run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "kvfence"


def ms_of_option(name: str, text: str | None) -> int | None:
    """A time as milliseconds since 1970; without a zone it is UTC.

    Raises:
        UsageError: it is none.
    """
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{name} {text}: give a date or an ISO time, such as 2026-08-27T12:00Z") from error
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
