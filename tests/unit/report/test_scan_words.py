"""A clean scan says how far that goes."""

from __future__ import annotations

from kvfence.findings.exposure import Exposure, TextCoverage
from kvfence.findings.verdict import Verdict
from kvfence.report.scan_words import verdict_line


def test_a_clean_verdict_names_what_was_looked_for():
    """So that nobody takes it for more."""
    seen = Exposure(
        requests=2,
        exposed=2,
        coverage=TextCoverage(whole=2, cut=0, encrypted=0, omitted=0),
        not_read=(),
        matches=(),
        signs=(),
        credentials=(),
    )
    assert seen.verdict is Verdict.CLEAN
    said = verdict_line(seen)
    assert said.startswith("Clean: 2 requests")
    assert all(words in said for words in ("64 bytes", "secrets", "three signs"))
