"""Every way in which a probe can be written, by name. Each format has its own module."""

from __future__ import annotations

import io
import json
from enum import StrEnum
from typing import assert_never

from kvfence.findings.recall import ProbeResult
from kvfence.report.plain_probe import plain_probe
from kvfence.report.run import Run

FILE_COLUMNS = 120
"""How wide the table is in a file."""


class ProbeFormat(StrEnum):
    """How a probe is written."""

    TABLE = "table"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    HTML = "html"


def rendered(result: ProbeResult, form: ProbeFormat, run: Run) -> str:
    """The probe in that format, with a newline at its end. What it needs is loaded only for it."""
    match form:
        case ProbeFormat.TABLE:
            from rich.console import Console  # noqa: PLC0415 — only where it is used

            from kvfence.report.probe_terminal import show_probe  # noqa: PLC0415 — the same

            page = io.StringIO()
            show_probe(result, Console(file=page, width=FILE_COLUMNS))
            return page.getvalue()
        case ProbeFormat.JSON:
            from kvfence.report import probe_json  # noqa: PLC0415 — only where it is used

            return _json(probe_json.document(result))
        case ProbeFormat.SARIF:
            from kvfence.report import audit_sarif, probe_findings  # noqa: PLC0415 — only where it is used

            return _json(audit_sarif.document(probe_findings.as_audit(plain_probe(result)), run))
        case ProbeFormat.JUNIT:
            from kvfence.report import probe_junit  # noqa: PLC0415 — only where it is used

            return probe_junit.document(plain_probe(result), run)
        case ProbeFormat.HTML:
            from kvfence.report import probe_html  # noqa: PLC0415 — only where it is used

            return probe_html.document(plain_probe(result), run) + "\n"
        case _:
            assert_never(form)


def _json(document: dict[str, object]) -> str:
    """ASCII, since an endpoint's message may hold what is no text."""
    return json.dumps(document, indent=2) + "\n"
