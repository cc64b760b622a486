"""Every way in which a probe can be written, by name. Each format has its own module."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import assert_never

from kvfence.findings.recall import ProbeResult
from kvfence.report.as_text import json_text, page_text
from kvfence.report.plain_probe import plain_probe
from kvfence.report.run import Run


class ProbeFormat(StrEnum):
    """How a probe is written."""

    TABLE = "table"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    HTML = "html"
    PROMETHEUS = "prometheus"


def rendered(result: ProbeResult, form: ProbeFormat, run: Run) -> str:
    """The probe in that format, with a newline at its end. What it needs is loaded only for it."""
    match form:
        case ProbeFormat.TABLE:
            from kvfence.report.probe_terminal import show_probe  # noqa: PLC0415 — only where it is used

            return page_text(partial(show_probe, result))
        case ProbeFormat.JSON:
            from kvfence.report import probe_json  # noqa: PLC0415 — only where it is used

            return json_text(probe_json.document(result))
        case ProbeFormat.SARIF:
            from kvfence.report import audit_sarif, probe_findings  # noqa: PLC0415 — only where it is used

            return json_text(audit_sarif.document(probe_findings.as_audit(plain_probe(result)), run))
        case ProbeFormat.JUNIT:
            from kvfence.report import probe_junit  # noqa: PLC0415 — only where it is used

            return probe_junit.document(plain_probe(result), run)
        case ProbeFormat.HTML:
            from kvfence.report import probe_html  # noqa: PLC0415 — only where it is used

            return probe_html.document(plain_probe(result), run) + "\n"
        case ProbeFormat.PROMETHEUS:
            from kvfence.report import probe_prometheus  # noqa: PLC0415 — only where it is used

            return probe_prometheus.exposition(plain_probe(result), run)
        case _:
            assert_never(form)
