"""A scan of a log with one leak: the pair is in every report, and of its text no more than is let through."""

from __future__ import annotations

import csv
import json
import random

import pytest

from kvfence.findings.preview import Preview
from kvfence.report.run import Run
from kvfence.report.scan_facts import ScanFacts
from kvfence.report.scan_formats import ScanFormat, rendered
from kvfence.scan.examine import Asked, Means, examined
from kvfence.scan.reading.inputs import sources_of
from support.browser import dom_of, needs_browser
from support.exposures import RUN
from support.planted_secrets import planted
from support.programs import run_kvfence

CONFIDENTIAL = (
    "The board agreed on the merger with the northern harbour company in a closed meeting on the third of May, "
    "and asked that nobody outside of the committee should hear of the price of 41,750,000 before the summer."
)
HOSTILE = "<img src=x onerror=alert(1)>\u202e=cmd"


def exchange(name, tenant, prompt, answer, at):
    return {
        "id": name,
        "created": 1_788_000_000 + at,
        "user": tenant,
        "model": "GLM-5.3",
        "status": 200,
        "request": {"messages": [{"role": "user", "content": prompt}]},
        "response": {"choices": [{"message": {"content": answer}, "finish_reason": "stop"}]},
    }


SECRET = planted(random.Random(4), "github-pat").value
LEAKED = f"{CONFIDENTIAL} The key of the data room is {SECRET}, keep it."
RECORDS = [
    exchange("victim", HOSTILE, f"Please put this into better words. {LEAKED}", "Gladly, here it is.", 0),
    exchange("reader", "globex", "What is the weather like in Oslo?", f"It is as follows. {LEAKED} More?", 90),
    *(exchange(f"r{at}", f"tenant-{at}", f"question {at}", f"answer {at}", 100 + at) for at in range(9)),
]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("leak") / "log.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def redacted(log):
    return examined(sources_of([log]), Asked(), Means())


@pytest.fixture(scope="module")
def readable(log):
    return examined(sources_of([log]), Asked(preview=Preview.READABLE), Means())


def written(seen, form: ScanFormat, *, letter_for: str | None = None, run: Run = RUN) -> str:
    return rendered(seen, form, ScanFacts(run=run, letter_for=letter_for))


def test_by_default_four_characters_of_it_are_shown(redacted):
    """With both requests and the time between."""
    made = written(redacted, ScanFormat.JSON)
    (match,) = json.loads(made)["matches"]
    assert (match["response_id"], match["source_id"], match["between_ms"]) == ("reader", "victim", 90_000)
    assert match["source"]["tenant"] == HOSTILE
    assert match["preview"].endswith(" more)")
    assert len(match["preview"]) < 20
    assert "board" not in made


@pytest.mark.parametrize("form", [form for form in ScanFormat if form is not ScanFormat.MARKDOWN])
def test_plain_words_are_shown_only_to_who_asks_and_the_secret_never(redacted, readable, form):
    """Figures and keys are left out of a readable preview as well."""
    assert "board agreed" not in " ".join(written(redacted, form).split())
    shown = " ".join(written(readable, form).split())
    assert "board" in shown
    for hidden in (SECRET, SECRET[4:20], "41,750,000"):
        assert hidden not in shown


@pytest.mark.parametrize("tenant", [None, HOSTILE, "globex"])
def test_a_letter_has_no_word_of_it(readable, tenant):
    """Not even to who asks for words."""
    letter = written(readable, ScanFormat.MARKDOWN, letter_for=tenant)
    assert "1 answer" in letter
    for hidden in ("board", "merger", SECRET[4:20]):
        assert hidden not in letter


def test_no_cell_is_a_formula_and_the_row_is_one(redacted):
    """The tenant's name is what it sent."""
    made = written(redacted, ScanFormat.CSV)
    (row,) = (row for row in csv.DictReader(made.splitlines()) if row["record"] == "match")
    assert row["request_id"] == "reader"
    assert row["source_tenant"].startswith("<img")
    assert "\u202e" not in made


@needs_browser
def test_the_page_shows_the_pair_and_runs_nothing(log, tmp_path):
    """A real log through the real program into a real browser, with the words that it was asked for."""
    page = tmp_path / "scan.html"
    assert run_kvfence("scan", log, "--format", "html", "-o", str(page), "--no-redact").code == 1
    dom = dom_of(page)
    assert "another tenant's" in dom
    assert "board agreed" in dom
    assert dom.count("<section>") == 1
    assert "<img" not in dom
