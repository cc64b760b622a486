"""A probe as one HTML file: verdict first, nothing from elsewhere, nothing that an endpoint says is obeyed."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.findings.depth_recall import DepthRecall
from kvfence.findings.recall import LengthVerdict, ProbeResult
from kvfence.report.probe_formats import ProbeFormat
from kvfence.report.run import Run
from support.audit_results import HOSTILE
from support.browser import dom_of, needs_browser
from support.html_parts import Page, assert_only
from support.probe_results import RUN, hostile_probe, probe_of, row_of, written

OURS = {
    *("html", "head", "meta", "link", "title", "style", "body", "h1", "h2", "p", "div", "span", "dl", "dt", "dd"),
    *("ul", "li", "b", "code", "pre", "footer", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("svg", "text", "rect"),
}
MIXED = probe_of(
    row_of(LengthVerdict.LEAK, 5361, by_depth=DepthRecall((4, 3, 2, 1, 0), 4)), row_of(LengthVerdict.LEAK, 7955)
)


def page_of(result: ProbeResult, run: Run = RUN) -> Page:
    return Page(written(result, ProbeFormat.HTML, run))


def assert_ours_only(page: Page) -> None:
    assert_only(page, OURS)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_markup(text: str):
    """Elements nest, they are ours, there is no handler and no address of anywhere else."""
    assert_ours_only(page_of(hostile_probe(text)))


@settings(max_examples=25)
@given(st.text())
def test_any_text_stays_text(text: str):
    """The same for whatever Hypothesis thinks of, and between the signs that begin and end an element."""
    for hostile in (text, f"<script>{text}</script>", f'"><b onclick="{text}">'):
        assert_ours_only(page_of(hostile_probe(hostile)))


def test_the_page_forbids_itself_every_request():
    """Its policy allows no source at all, and its styles name no address."""
    text = written(probe_of(row_of(LengthVerdict.LEAK), url="x"), ProbeFormat.HTML)
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|https?://", text)


def test_the_verdict_is_the_first_thing_that_is_said():
    """In one sentence, before anything else of the body."""
    body = written(MIXED, ProbeFormat.HTML).split("<body>")[1]
    assert body.strip().startswith('<h1 class="found">Leak: because of the last row.</h1>')


def test_the_page_tells_what_was_asked_and_what_it_took():
    """Declared against verified, requests and tries, tokens, dollars, time, seed, and the command."""
    text = " ".join(page_of(MIXED).text.split())
    for told in ("8,192 tokens", "up to 768 tokens", "10, in 11 tries", "38,457 of prompts, 1,431 of answers"):
        assert told in text
    for told in ("0.2500 US dollars", "12.0 s in this run", "Seed7", RUN.again, "KXEH… (25 more) of tenant-a"):
        assert told in text


def test_each_cell_of_the_map_has_the_share_of_its_length_and_depth():
    """In the picture as in the table beside it; a cell for each depth of each length that was answered."""
    text = written(MIXED, ProbeFormat.HTML)
    picture = ET.fromstring(re.search(r"<svg.*?</svg>", text, re.DOTALL).group())
    told = [rect.findtext("title") for rect in picture.iter("rect")]
    assert len(told) == 3 * 5
    shares = [re.fullmatch(r"5,361 tokens, (\d+)% into the prompt: (\d+)% of 4 answers", one) for one in told]
    assert [match.groups() for match in shares if match] == [
        ("10", "100"),
        ("30", "75"),
        ("50", "50"),
        ("70", "25"),
        ("90", "0"),
    ]
    assert "at 1 of 3 lengths every marker of every depth came back" in picture.attrib["aria-label"]
    row = re.search(r'<tr><th scope="row" class="n">5,361</th><td class="n">4</td>(.*?)</tr>', text).group(1)
    assert re.findall(r">(\d+)<", row) == ["100", "75", "50", "25", "0"]


def test_without_an_answer_there_is_no_map():
    """A refusal says nothing of any depth."""
    page = page_of(probe_of(lengths=(row_of(LengthVerdict.REFUSED),)))
    assert "svg" not in {tag for tag, _attributes in page.tags}


@needs_browser
def test_a_browser_shows_the_page_and_runs_nothing(tmp_path: Path):
    """In a real browser the title is ours, the picture is there, and no script of an endpoint's text ran."""
    file = tmp_path / "probe.html"
    file.write_text(written(hostile_probe("".join(HOSTILE)), ProbeFormat.HTML), encoding="utf-8")
    shown = dom_of(file)
    assert "<title>kvfence probe: leak</title>" in shown
    assert shown.count("<svg") == 1
    assert {tag for tag, _attributes in Page(shown).tags} <= OURS
