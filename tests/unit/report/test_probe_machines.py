"""A probe as JUnit XML and as SARIF: valid by the official schemas, and of one mind with the exit code."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator
from xmlschema import XMLSchema

from kvfence.audit.catalogue import card_of
from kvfence.findings.recall import LengthVerdict, ProbeResult, ProbeVerdict
from kvfence.findings.verdict import Verdict
from kvfence.report.finding_rule import FindingRule
from kvfence.report.probe_cards import PROBE_RULES
from kvfence.report.probe_findings import as_audit
from kvfence.report.probe_formats import ProbeFormat
from support.audit_logs import CORPUS
from support.audit_results import HOSTILE
from support.probe_results import OVERALL, hostile_probe, probe_of, row_of, written

JUNIT = [XMLSchema(str(CORPUS / "schemas" / name)) for name in ("junit.xsd", "junit-10.xsd")]
SARIF = Draft4Validator(
    json.loads((CORPUS / "schemas" / "sarif-schema-2.1.0.json").read_text("utf-8")),
    format_checker=Draft4Validator.FORMAT_CHECKER,
)
OUTCOMES = {
    LengthVerdict.CLEAN: "passed",
    LengthVerdict.REFUSED: "failure",
    LengthVerdict.ERROR: "error",
    LengthVerdict.ELSEWHERE: "skipped",
    LengthVerdict.INCONCLUSIVE: "skipped",
}
"""The others are failures."""


def suites_of(result: ProbeResult) -> dict[str, ET.Element]:
    text = written(result, ProbeFormat.JUNIT)
    for schema in JUNIT:
        schema.validate(ET.fromstring(text))
    return {suite.attrib["name"]: suite for suite in ET.fromstring(text.encode())}


def outcomes_of(suite: ET.Element) -> list[str]:
    return [next((child.tag for child in case), "passed") for case in suite.iter("testcase")]


def sarif_of(result: ProbeResult) -> dict:
    document = json.loads(written(result, ProbeFormat.SARIF))
    SARIF.validate(document)
    return document["runs"][0]


@pytest.mark.parametrize("verdict", list(LengthVerdict))
def test_each_verdict_over_a_length_is_a_test_that_passed_failed_or_could_not_tell(verdict: LengthVerdict):
    """In its row, and over everything as the exit code has it."""
    result = probe_of(row_of(verdict))
    suites = suites_of(result)
    assert outcomes_of(suites["sweep"]) == ["passed", OUTCOMES.get(verdict, "failure")]
    overall = {Verdict.CLEAN: "passed", Verdict.FOUND: "failure", Verdict.UNKNOWN: "skipped"}[result.outcome]
    assert outcomes_of(suites["verdict"]) == [overall]


@pytest.mark.parametrize("verdict", list(LengthVerdict))
def test_sarif_has_a_result_for_each_row_that_is_bad_and_a_notice_of_the_rest(verdict: LengthVerdict):
    """At the endpoint's address, by the rule of its verdict; what is unknown is louder than a remark."""
    result = probe_of(row_of(verdict))
    run = sarif_of(result)
    assert run["properties"]["verdict"] == result.outcome.value
    assert [found["ruleId"] for found in run["results"]] == (
        [PROBE_RULES[verdict].card.code] if result.outcome is Verdict.FOUND else []
    )
    for found in run["results"]:
        place = found["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uri"] == "http://endpoint.example/v1"
        assert "4,096 prompt tokens" in found["message"]["text"]
    notes = {note["level"] for note in run["invocations"][0]["toolExecutionNotifications"]}
    assert notes == ({"warning", "note"} if result.outcome is Verdict.UNKNOWN else {"note"})


def test_a_refusal_past_what_is_declared_is_honest():
    """It passes, and is no finding."""
    past = row_of(LengthVerdict.REFUSED, 8256)
    result = probe_of(past, verdict=ProbeVerdict.CLEAN, refused_though_declared=())
    assert outcomes_of(suites_of(result)["sweep"]) == ["passed", "passed"]
    assert sarif_of(result)["results"] == []


def test_under_a_control_that_failed_nothing_is_a_finding():
    """A weak model says nothing of its server."""
    result = probe_of(lengths=(row_of(LengthVerdict.LOST, 768),), verdict=ProbeVerdict.WEAK_MODEL)
    suites = suites_of(result)
    assert outcomes_of(suites["sweep"]) == outcomes_of(suites["verdict"]) == ["skipped"]
    assert sarif_of(result)["results"] == []


def test_each_manner_of_asking_is_a_suite_and_what_was_not_asked_another():
    """Rows of one length keep their own names, and counts are those of the cases."""
    rows = [row_of(LengthVerdict.CLEAN, scenario="concurrent") for _ in range(3)]
    suites = suites_of(probe_of(*rows, unasked=(6000, 7000), verdict=ProbeVerdict.INCONCLUSIVE))
    assert list(suites) == ["sweep", "concurrent", "not asked", "verdict"]
    names = [case.attrib["name"] for case in suites["concurrent"].iter("testcase")]
    assert len(set(names)) == int(suites["concurrent"].attrib["tests"]) == 3
    assert outcomes_of(suites["not asked"]) == ["skipped", "skipped"]


def test_times_are_those_that_were_measured():
    """Of each length, and of a suite their sum."""
    (suite, _) = suites_of(probe_of(row_of(LengthVerdict.CLEAN, seconds=2.25))).values()
    assert [float(case.attrib["time"]) for case in suite.iter("testcase")] == [1.5, 2.25]
    assert float(suite.attrib["time"]) == 3.75


@given(st.lists(st.sampled_from(LengthVerdict), max_size=4), st.sampled_from(ProbeVerdict))
def test_in_the_words_of_an_audit_the_verdict_is_the_same_where_nothing_is_known(rows, verdict):
    """No probe that is not clean becomes a clean audit, and none that is not found a finding."""
    result = probe_of(*(row_of(row, 1000 + at) for at, row in enumerate(rows)), verdict=verdict)
    audit = as_audit(result)
    if result.outcome is Verdict.UNKNOWN:
        assert audit.verdict is Verdict.UNKNOWN
    if result.outcome is not Verdict.FOUND:
        assert audit.findings == ()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_valid(text: str):
    """Names and messages of any kind make valid documents."""
    suites_of(hostile_probe(text))
    sarif_of(hostile_probe(text))


@settings(max_examples=20)
@given(st.text())
def test_any_text_stays_valid(text: str):
    """The same for whatever Hypothesis thinks of."""
    suites_of(hostile_probe(text))
    sarif_of(hostile_probe(text))


def test_codes_are_of_their_own_range():
    """The audit's end at KVF6xx, and no two rules share a name."""
    cards = [rule.card for rule in PROBE_RULES.values()]
    assert all(card.code.startswith("KVF7") for card in cards)
    assert len({card.code for card in cards}) == len({card.id for card in cards}) == len(cards)


@pytest.mark.parametrize("rule", PROBE_RULES.values(), ids=lambda rule: rule.card.id)
def test_a_finding_says_all_and_explain_knows_it(rule: FindingRule):
    """What it says, why it matters, how bad it is, what to do first; its page is the one that `explain` prints."""
    for heading in ("## What it says", "## Why it matters", "## How bad", "## In the first hour"):
        assert heading in rule.card.page
    assert rule.card.title.endswith(".")
    assert card_of(rule.card.code) == card_of(rule.card.id) == rule.card
    assert rule.severity.value in rule.card.page.partition("## How bad")[2].lower()


def test_whoever_finds_a_leak_is_told_whom_to_tell_what_to_keep_and_what_to_rotate():
    """In the page, and the way to the page in every format for machines."""
    card = PROBE_RULES[LengthVerdict.LEAK].card
    for word in ("**Stop it.**", "**Keep.**", "**Tell.**", "**Rotate.**"):
        assert word in card.page
    found = probe_of(row_of(LengthVerdict.LEAK))
    for form in (ProbeFormat.SARIF, ProbeFormat.JUNIT):
        assert "kvfence explain KVF701" in written(found, form)
    rules = json.loads(written(found, ProbeFormat.SARIF))["runs"][0]["tool"]["driver"]["rules"]
    assert next(rule["help"]["markdown"] for rule in rules if rule["id"] == "KVF701") == card.page


@pytest.mark.parametrize("verdict", ProbeVerdict)
def test_what_was_found_is_told_with_what_to_do_first(verdict: ProbeVerdict):
    """On the terminal and on the page, by the code of the finding that the verdict rests on; nothing where none is."""
    result = probe_of(verdict=verdict)
    for form in (ProbeFormat.TABLE, ProbeFormat.HTML):
        told = re.findall(r"kvfence explain (KVF\d+)", written(result, form))
        found = {rule.card.code for kind, rule in PROBE_RULES.items() if OVERALL.get(kind, kind) == verdict}
        assert set(told) == (found if result.outcome is Verdict.FOUND else set())
        assert bool(told) == (result.outcome is Verdict.FOUND)
