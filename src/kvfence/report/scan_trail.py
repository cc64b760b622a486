"""The audit trail of scans: two lines of JSON a run, one when it begins to read and one when it has written.

A run that was killed has the first line only: what it read was read all the same. Lines are added to a trail, and
never changed; no text and no secret is in one.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import kvfence
from kvfence.findings.custody import FileRead, FileWritten
from kvfence.findings.exposure import Exposure
from kvfence.report.run import Run
from kvfence.report.scan_facts import digest

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is known when a run begins."""

    run_id: str
    """Of this run, in both of its lines."""
    at: datetime
    user: str
    """Whose account it runs under."""
    command: str
    """The command line, without secrets."""


def began_line(start: Start, read: tuple[FileRead, ...]) -> str:
    """With a newline at its end."""
    return _line(
        "began",
        start.run_id,
        start.at,
        {
            "user": start.user,
            "command": start.command,
            "read": [asdict(one) for one in read],
        },
    )


def ended_line(
    start: Start, run: Run, seen: Exposure, *, read: tuple[FileRead, ...], wrote: tuple[FileWritten, ...]
) -> str:
    """With a newline at its end; `read` as it lies now."""
    return _line(
        "ended",
        start.run_id,
        run.at,
        {
            "took_s": round(run.took_s, 3),
            "verdict": seen.verdict.value,
            "requests": seen.requests,
            "skipped": seen.skipped,
            "window": asdict(seen.window),
            "found": {"matches": len(seen.matches), "signs": len(seen.signs), "secrets": len(seen.credentials)},
            "digest": digest(seen),
            "read": [asdict(one) for one in read],
            "wrote": [asdict(one) for one in wrote],
        },
    )


def _line(event: str, run_id: str, at: datetime, rest: dict[str, object]) -> str:
    when = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    head = {"schema": SCHEMA, "event": event, "run": run_id, "at": when, "version": kvfence.__version__}
    return json.dumps(head | rest) + "\n"
