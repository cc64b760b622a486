"""Every way in which a scan can be written, by name. Each format has its own module."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from kvfence.findings.exposure import Exposure
from kvfence.report.as_text import json_text
from kvfence.report.plain_scan import plain_scan
from kvfence.report.scan_facts import ScanFacts


class ScanFormat(StrEnum):
    """How a scan is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    SARIF = "sarif"
    HTML = "html"
    MARKDOWN = "markdown"


def rendered(seen: Exposure, form: ScanFormat, facts: ScanFacts) -> str:
    """The scan in that format, with a newline at its end. What it needs is loaded only for it."""
    match form:
        case ScanFormat.TABLE:
            from kvfence.report import scan_terminal  # noqa: PLC0415 — only who needs it pays for it

            return scan_terminal.as_text(seen)
        case ScanFormat.JSON:
            from kvfence.report import scan_json  # noqa: PLC0415 — the same

            return json_text(scan_json.document(seen))
        case ScanFormat.CSV:
            from kvfence.report import scan_csv  # noqa: PLC0415 — the same

            return scan_csv.table(plain_scan(seen))
        case ScanFormat.SARIF:
            from kvfence.report import scan_sarif  # noqa: PLC0415 — the same

            return json_text(scan_sarif.document(plain_scan(seen), facts.run))
        case ScanFormat.HTML:
            from kvfence.report import scan_html  # noqa: PLC0415 — the same

            return scan_html.document(seen, facts) + "\n"
        case ScanFormat.MARKDOWN:
            from kvfence.report import scan_letter  # noqa: PLC0415 — the same

            return scan_letter.document(seen, facts)
        case _:
            assert_never(form)
