"""Several vendors as JUnit XML: each vendor's suites under its name; last, one test a vendor."""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.findings.comparison import Comparison
from kvfence.report import junit_xml
from kvfence.report.comparison_rows import Row, asked_at, rows_of
from kvfence.report.junit_xml import Case, Suite
from kvfence.report.probe_junit import OUTCOMES, suites
from kvfence.report.run import Run


def document(comparison: Comparison, run: Run) -> str:
    """The whole comparison; its texts must be plain."""
    return junit_xml.document(list(_suites(comparison)), run)


def _suites(comparison: Comparison) -> Iterator[Suite]:
    rows = rows_of(comparison)
    for row in rows:
        if row.provider.result is not None:
            yield from ((f"{row.name}: {name}", cases) for name, cases in suites(row.provider.result))
    yield "providers", [_case(row) for row in rows]


def _case(row: Row) -> Case:
    said = f"{row.verdict}: {row.reason}"
    lines = (
        said,
        asked_at(row.provider),
        f"declared {row.declared}, verified {row.verified} prompt tokens",
        f"first length that fails: {row.first_failure}; refusals: {row.refusals}",
    )
    if row.provider.result is None:
        return Case(row.name, "error", row.verdict, said, "\n".join(lines))
    outcome = OUTCOMES[row.provider.outcome]
    return Case(row.name, outcome, row.verdict, said, "\n".join(lines), row.provider.result.seconds)
