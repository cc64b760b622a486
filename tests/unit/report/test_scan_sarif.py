"""A scan as SARIF: valid by the official schema, the same finding over runs, nothing silent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from jsonschema import Draft4Validator

from kvfence.audit.catalogue import card_of
from kvfence.report import scan_sarif
from kvfence.report.audit_sarif import FINGERPRINT
from kvfence.report.finding_rule import FindingRule
from kvfence.report.scan_cards import SCAN_RULES
from kvfence.report.scan_formats import ScanFormat
from support.audit_logs import CORPUS
from support.audit_results import HOSTILE
from support.exposures import FORMULAS, credential, exposure, exposure_of, exposures, logged, match, sign, written

OFFICIAL = Draft4Validator(
    json.loads((CORPUS / "schemas" / "sarif-schema-2.1.0.json").read_text("utf-8")),
    format_checker=Draft4Validator.FORMAT_CHECKER,
)


def run_of(seen) -> dict:
    document = json.loads(written(seen, ScanFormat.SARIF))
    OFFICIAL.validate(document)
    return document["runs"][0]


def test_each_finding_is_a_result_of_its_rule():
    """With the place of the answer, and of whose text it is."""
    seen = exposure(matches=(match(),), credentials=(credential(),), signs=(sign(),))
    found = run_of(seen)["results"]
    assert [one["ruleId"] for one in found] == ["KVF801", "KVF802", "KVF803"]
    assert [one["level"] for one in found] == ["error", "error", "warning"]
    place = found[0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("r1", 3)
    assert found[0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "s1"
    assert "another tenant's text" in found[0]["message"]["text"]


def test_what_was_not_looked_at_is_a_warning_of_the_run():
    """And signs alone do not make it found."""
    run = run_of(replace(exposure_of("x"), matches=(), credentials=()))
    assert run["properties"]["verdict"] == "unknown"
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert len(notes) == 5 + 2
    assert {note["level"] for note in notes} == {"warning"}


def test_a_finding_keeps_its_fingerprint_when_lines_and_scores_move():
    """The same answer in tomorrow's scan is the same finding."""
    moved = match(score=0.5, response=replace(logged("r1"), where="elsewhere:9"))
    one, other = (run_of(exposure(matches=(it,)))["results"][0] for it in (match(), moved))
    assert one["partialFingerprints"][FINGERPRINT] == other["partialFingerprints"][FINGERPRINT]


def test_of_too_many_the_worst_are_kept_and_the_rest_is_told(monkeypatch):
    """No service takes a file without end."""
    monkeypatch.setattr(scan_sarif, "RESULTS_MAX", 5)
    run = run_of(exposure(matches=(match("own", across_tenants=False),) + (match(),) * 5))
    assert len(run["results"]) == 5
    assert {one["properties"]["node"] for one in run["results"]} == {"r1"}
    assert "1 more findings" in run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"]


@pytest.mark.parametrize("text", [*HOSTILE, *FORMULAS])
def test_hostile_text_stays_valid(text):
    """Names and texts of any kind make a valid document."""
    run_of(exposure_of(text))


@settings(max_examples=25, deadline=None)
@given(exposures)
def test_any_scan_stays_valid(seen):
    """The same for whatever Hypothesis thinks of."""
    run_of(seen)


@pytest.mark.parametrize("rule", SCAN_RULES, ids=lambda rule: rule.card.id)
def test_a_finding_says_all_and_explain_knows_it(rule: FindingRule):
    """What it says, why it matters, how bad it is, what to do first; its page is the one that `explain` prints."""
    for heading in ("## What it says", "## Why it matters", "## How bad", "## In the first hour"):
        assert heading in rule.card.page
    assert card_of(rule.card.code) == card_of(rule.card.id) == rule.card
    assert rule.card.code.startswith("KVF8")
    assert rule.severity.value in rule.card.page.partition("## How bad")[2].lower()
