"""Every way in which a comparison of vendors can be written; the same names as for one probe."""

from __future__ import annotations

from functools import partial

from kvfence.findings.comparison import Comparison
from kvfence.report.as_text import json_text, page_text
from kvfence.report.comparison_rows import plain_comparison
from kvfence.report.probe_formats import ProbeFormat
from kvfence.report.run import Run

FORMATS = tuple(form for form in ProbeFormat if form not in {ProbeFormat.SARIF, ProbeFormat.PROMETHEUS})
"""Findings of SARIF are about one place each, and vendors are not files of anybody's repository; metrics are of one
endpoint, which is probed again and again."""


def rendered_comparison(comparison: Comparison, form: ProbeFormat, run: Run) -> str:
    """The comparison in one of `FORMATS`, with a newline at its end. Raises `LookupError` for another format."""
    match form:
        case ProbeFormat.TABLE:
            from kvfence.report.comparison_terminal import show_comparison  # noqa: PLC0415 — only where it is used

            return page_text(partial(show_comparison, plain_comparison(comparison)))
        case ProbeFormat.JSON:
            from kvfence.report import comparison_json  # noqa: PLC0415 — only where it is used

            return json_text(comparison_json.document(comparison))
        case ProbeFormat.JUNIT:
            from kvfence.report import comparison_junit  # noqa: PLC0415 — only where it is used

            return comparison_junit.document(plain_comparison(comparison), run)
        case ProbeFormat.HTML:
            from kvfence.report import comparison_html  # noqa: PLC0415 — only where it is used

            return comparison_html.document(plain_comparison(comparison), run) + "\n"
        case _:
            raise LookupError(form)
