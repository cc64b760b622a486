"""A scan as one HTML file: the answers first, nothing from elsewhere, nothing that a log says is obeyed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from kvfence.findings.exposure import Hour
from kvfence.report.scan_bins import BINS_MAX, bins_of
from kvfence.report.scan_formats import ScanFormat
from kvfence.report.scan_html import PAIRS_MAX, ROW_PX
from support.audit_results import HOSTILE
from support.browser import dom_of, needs_browser
from support.exposures import FORMULAS, T0, credential, exposure, exposure_of, exposures, logged, match, sign, written
from support.html_parts import Page, assert_only

OURS = {
    *("html", "head", "meta", "link", "title", "style", "body", "h1", "h2", "h3", "p", "div", "span", "section"),
    *("dl", "dt", "dd", "ul", "li", "b", "code", "pre", "footer", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td", "svg", "text", "rect"),
}
HOUR_MS = 3_600_000


def bars(page: Page, kind: str) -> list[float]:
    return [float(found["height"] or 0) for tag, found in page.tags if tag == "rect" and found["class"] == kind]


def page_of(seen) -> Page:
    return Page(written(seen, ScanFormat.HTML))


def assert_ours_only(page: Page) -> None:
    assert_only(page, OURS)


@pytest.mark.parametrize("text", [*HOSTILE, *FORMULAS])
def test_no_text_becomes_markup(text):
    """Elements nest, they are ours, there is no handler, no address of anywhere else, and no turned direction."""
    page = page_of(exposure_of(text))
    assert_ours_only(page)
    assert all(char.isprintable() or char.isspace() for char in page.text)


@settings(max_examples=25, deadline=None)
@given(exposures)
def test_any_scan_makes_a_page(seen):
    """The same for whatever Hypothesis thinks of."""
    assert_ours_only(page_of(seen))


def test_the_page_forbids_itself_every_request():
    """Its policy allows no source at all, and its styles name no address."""
    text = written(exposure(matches=(match(),)), ScanFormat.HTML)
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|<script|https?://(?!logs\.example)", text)


def test_the_answers_come_before_everything_else():
    """What the answers do not reach to comes right after them."""
    seen = exposure(matches=(match(),), signs=(sign(),), credentials=(credential(),), not_looked_for=("weather",))
    text = page_of(seen).text
    order = ["Were we exposed?", "Whose text?", "What must be rotated?", "Not looked for: weather.", "When it was"]
    order += ["Text of other requests in answers", "Secrets to rotate", "Signs of lost context", "This run"]
    assert [text.index(word) for word in order] == sorted(text.index(word) for word in order)


def test_a_pair_stands_side_by_side_with_all_that_is_known():
    """Who, when, how long, how much later, how sure, and where both stand."""
    text = " ".join(page_of(exposure(matches=(match(candidates=3),))).text.split())
    for word in ("412 characters, score 0.98", "another tenant's", "one of 3 requests", "r1 Ltd", "s1 Ltd"):
        assert word in text
    assert "The answer was 48 min later." in text
    assert "2026-08-28 10:00:00 UTC" in text
    assert "r1:3" in text
    assert "s1:3" in text


def test_a_page_of_many_pairs_shows_the_worst_and_counts_the_rest():
    """What no person reads is in JSON and CSV."""
    page = page_of(exposure(matches=(match(),) * (PAIRS_MAX + 7)))
    assert sum(tag == "section" for tag, _ in page.tags) == PAIRS_MAX
    assert "And 7 more" in " ".join(page.text.split())


def test_the_time_line_shows_all_that_has_a_time():
    """One bar where there is something, as high as its count; what has no time is said to have none."""
    untimed = match("r2", response=logged("r2", at_ms=None))
    page = page_of(exposure(matches=(match(), match(), untimed)))
    assert bars(page, "all") == [ROW_PX - 8, (ROW_PX - 8) / 2]
    assert bars(page, "inside") == [ROW_PX - 8, ROW_PX - 8]
    assert bars(page, "carrying") == [ROW_PX - 8]
    assert "1 answers with text of another request have no time" in " ".join(page.text.split())
    assert bars(page_of(exposure(hours=())), "all") == []


@settings(max_examples=60)
@given(exposures)
def test_no_request_is_lost_between_the_bars(seen):
    """However far apart the times are, the bars are few, and they hold all that the hours hold."""
    hours = tuple(sorted(seen.hours, key=lambda hour: hour.from_ms))
    bins = bins_of(replace(seen, hours=hours))
    if bins is None:
        assert hours == ()
        return
    assert 1 <= len(bins.bins) <= BINS_MAX
    assert sum(one.requests for one in bins.bins) == sum(hour.requests for hour in hours)
    assert sum(one.exposed for one in bins.bins) == sum(hour.exposed for hour in hours)
    carrying = {(one.response.id, one.response.where) for one in seen.matches}
    assert bins.untimed + sum(one.carrying for one in bins.bins) == len(carrying)


@pytest.mark.parametrize(
    ("hours", "each"), [(1, "1 h"), (95, "1 h"), (97, "3 h"), (24 * 60, "1 d"), (24 * 365, "7 d"), (24 * 3650, "365 d")]
)
def test_a_bar_is_as_wide_as_one_counts(hours, each):
    """Hours of a day, days of two months, weeks of a year."""
    bins = bins_of(exposure(hours=tuple(Hour(from_ms=T0 + at * HOUR_MS, requests=1, exposed=0) for at in range(hours))))
    assert bins is not None
    assert bins.each == each


def test_the_run_and_its_inputs_are_on_the_page():
    """With the digest of the document that belongs to it."""
    text = " ".join(page_of(exposure()).text.split())
    for word in ("logs/a b.jsonl", "12,345", "ab" * 32, "https://logs.example/<b>.jsonl", "2026-12-03 10:30 UTC"):
        assert word in text
    assert re.search(r"SHA-256 [0-9a-f]{64}, of what", text)


@needs_browser
def test_a_browser_shows_the_page_and_runs_nothing(tmp_path: Path):
    """In a real browser the title is ours, the picture is there, and no script of a log's text ran."""
    file = tmp_path / "scan.html"
    file.write_text(written(exposure_of("".join(HOSTILE)), ScanFormat.HTML), encoding="utf-8")
    shown = dom_of(file)
    assert "<title>kvfence scan: found</title>" in shown
    assert shown.count("<svg") == 1
    assert {tag for tag, _ in Page(shown).tags} <= OURS
