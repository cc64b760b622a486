"""Several vendors as one HTML file: the comparison first, then what was seen of each. It asks nothing of anybody."""

from __future__ import annotations

from kvfence.findings.comparison import Comparison
from kvfence.findings.recall import LengthResult
from kvfence.findings.verdict import Verdict
from kvfence.report.comparison_rows import HEADINGS, Row, asked_at, rows_of, said_of_cost
from kvfence.report.html_page import render_page
from kvfence.report.not_covered import not_covered
from kvfence.report.probe_findings import sights, standing
from kvfence.report.run import Run


def document(comparison: Comparison, run: Run) -> str:
    """The page as text; the texts of the comparison must be plain."""
    rows = rows_of(comparison)
    return render_page(
        "comparison.html",
        run=run,
        comparison=comparison,
        rows=rows,
        headings=HEADINGS,
        said=_headline(rows),
        cost=said_of_cost(comparison),
        asked_at=asked_at,
        standing=_standing,
        sights=sights,
        open_points=not_covered,
    )


def _headline(rows: tuple[Row, ...]) -> str:
    """How many of them are what."""
    counts = {verdict: sum(row.provider.outcome is verdict for row in rows) for verdict in Verdict}
    words = (
        (counts[Verdict.FOUND], "with something found"),
        (counts[Verdict.UNKNOWN], "of which too little is known"),
        (counts[Verdict.CLEAN], "clean"),
    )
    return f"{len(rows)} providers: " + ", ".join(f"{count} {said}" for count, said in words if count)


def _standing(row: Row, length: LengthResult) -> Verdict:
    return standing(length, row.provider.result) if row.provider.result else Verdict.UNKNOWN
