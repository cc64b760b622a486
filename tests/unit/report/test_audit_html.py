"""An audit as one HTML file: nothing from elsewhere, nothing that a log says is obeyed, the picture true."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kvfence.audit import inspect
from kvfence.findings.deployment import AuditResult, Node
from kvfence.report.audit_formats import AuditFormat
from kvfence.report.audit_html import BAR_PX
from support.audit_logs import INCIDENT
from support.audit_results import HOSTILE, audit_of, written
from support.browser import dom_of, needs_browser

OURS = {
    *("html", "head", "meta", "link", "title", "style", "body", "h1", "h2", "h3", "p", "div", "span", "section"),
    *("ol", "ul", "li", "b", "code", "pre", "footer", "svg", "text", "rect", "line"),
}


class _Page(HTMLParser):
    """Which elements there are with which attributes, and their text."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def _widths(page: _Page, kind: str) -> list[float]:
    return [float(attributes["width"] or 0) for tag, attributes in page.tags if attributes.get("class") == kind]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_markup(text: str):
    """The page has our elements only, no handler, and no address of anywhere else."""
    page = _Page(written(audit_of(text), AuditFormat.HTML))
    assert {tag for tag, _attributes in page.tags} <= OURS
    for _tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "data:,") == "data:,"
        assert not {"src", "xlink:href", "action"} & attributes.keys()


def test_what_one_types_is_whole_and_nothing_else_of_a_fix_changes():
    """An option is kept on one line, a command is set apart, and what a log says between them stays text."""
    fix = "Promise --context-length 599040; `kvfence gate` holds it; <b>a--b</b> and --mem-fraction-static."
    result = audit_of("a")
    page = _Page(written(replace(result, findings=(replace(result.findings[0], fix=fix),)), AuditFormat.HTML))
    options = [attributes for tag, attributes in page.tags if tag == "code" and attributes.get("class") == "option"]
    assert len(options) == 2 * 2  # in the list of what to do, and under the finding
    assert fix.replace("`", "") in page.text


def test_the_page_forbids_itself_every_request():
    """Its policy allows no source at all, and its styles name no address."""
    text = written(inspect(sorted(INCIDENT.glob("*.log"))), AuditFormat.HTML)
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|https?://", text)


def test_the_picture_shows_the_incident_to_scale():
    """681,280 of 1,048,576 tokens: the pool's bar and what is missing add up to the promise's."""
    page = _Page(written(audit_of("node-0"), AuditFormat.HTML))
    ((pool,), (short,), (promise,)) = (_widths(page, kind) for kind in ("pool", "short", "promise"))
    assert promise == BAR_PX
    assert pool == pytest.approx(BAR_PX * 681280 / 1048576, abs=0.1)
    assert pool + short == pytest.approx(promise, abs=0.1)
    assert "367,296 (35 %) short" in page.text


@pytest.mark.parametrize(
    ("facts", "bars"), [({}, 0), ({"pool_tokens": 5}, 1), ({"pool_tokens": 5, "context_length": 5}, 2)]
)
def test_what_is_not_known_is_not_drawn(facts: dict[str, int], bars: int):
    """An unknown size is said to be unknown; nothing is short of it."""
    page = _Page(written(AuditResult((Node("a", facts),), (), ()), AuditFormat.HTML))
    assert len(_widths(page, "pool") + _widths(page, "promise")) == bars
    assert page.text.count("not known") == 2 - bars
    assert _widths(page, "short") == []


def test_the_page_names_every_finding_fix_and_gap():
    """All that the table tells is there."""
    result = inspect(sorted(INCIDENT.glob("*.log"))[1:2])
    page = " ".join(_Page(written(result, AuditFormat.HTML)).text.split())
    for finding in result.findings:
        assert finding.fix.replace("`", "") in page
        assert finding.message in page
    for gap in result.not_checked:
        assert gap.why in page


@needs_browser
def test_a_browser_shows_the_page_and_runs_nothing(tmp_path: Path):
    """In a real browser the title is ours, each picture has its size, and no script of a log's text ran."""
    result = audit_of("".join(HOSTILE))
    file = tmp_path / "audit.html"
    file.write_text(written(result, AuditFormat.HTML), encoding="utf-8")
    shown = dom_of(file)
    assert "<title>kvfence audit: found</title>" in shown
    assert shown.count("<svg") == 1
    assert {tag for tag, _attributes in _Page(shown).tags} <= OURS
