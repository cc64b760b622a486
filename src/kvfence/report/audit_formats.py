"""Every way in which an audit can be written, by name. Each format has its own module."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from kvfence.findings.deployment import AuditResult
from kvfence.report.as_text import json_text
from kvfence.report.plain import plain_result
from kvfence.report.run import Run


class AuditFormat(StrEnum):
    """How an audit is written."""

    TABLE = "table"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    HTML = "html"
    PROMETHEUS = "prometheus"


def rendered(result: AuditResult, form: AuditFormat, run: Run) -> str:
    """The audit in that format, with a newline at its end. What it needs is loaded only for it."""
    # A format's module is imported where it is used: SARIF needs no templates, and HTML no registry of metrics.
    match form:
        case AuditFormat.TABLE:
            from kvfence.report import audit_terminal  # noqa: PLC0415 — as said above

            return audit_terminal.as_text(result)
        case AuditFormat.JSON:
            from kvfence.report import audit_json  # noqa: PLC0415 — as said above

            return json_text(audit_json.document(result))
        case AuditFormat.SARIF:
            from kvfence.report import audit_sarif  # noqa: PLC0415 — as said above

            return json_text(audit_sarif.document(plain_result(result), run))
        case AuditFormat.JUNIT:
            from kvfence.report import audit_junit  # noqa: PLC0415 — as said above

            return audit_junit.document(plain_result(result), run)
        case AuditFormat.HTML:
            from kvfence.report import audit_html  # noqa: PLC0415 — as said above

            return audit_html.document(plain_result(result), run) + "\n"
        case AuditFormat.PROMETHEUS:
            from kvfence.report import audit_prometheus  # noqa: PLC0415 — as said above

            return audit_prometheus.exposition(plain_result(result), run)
        case _:
            assert_never(form)
