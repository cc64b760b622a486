"""The facts of one run of a scan, as reports for people end with them: what was read, and which document it made."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from kvfence.findings.custody import FileRead
from kvfence.findings.exposure import Exposure
from kvfence.report.as_text import json_text
from kvfence.report.run import Run
from kvfence.report.scan_json import document


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanFacts:
    """Which run it was, and what it read."""

    run: Run
    read: tuple[FileRead, ...] = ()
    letter_for: str | None = None
    """The tenant to whom the letter goes; None for one to a regulator."""


def digest(seen: Exposure) -> str:
    """SHA-256 of what `--format json` writes: by it all reports of one finding are known to belong together."""
    return hashlib.sha256(json_text(document(seen)).encode()).hexdigest()
