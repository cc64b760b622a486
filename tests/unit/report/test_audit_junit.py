"""An audit as JUnit XML: valid by two schemas, and "could not tell" is never "passed"."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xmlschema import XMLSchema

from kvfence.audit import inspect
from kvfence.audit.registry import RULES
from kvfence.findings.deployment import AuditResult, NotChecked
from kvfence.report.audit_formats import AuditFormat, rendered
from support.audit_logs import CORPUS, HEADLINE, INCIDENT, LOGS, UNIFIED, audited
from support.audit_results import HOSTILE, RUN, audit_of, written

SCHEMAS = [XMLSchema(str(CORPUS / "schemas" / name)) for name in ("junit.xsd", "junit-10.xsd")]


def _suites(result: AuditResult) -> list[ET.Element]:
    text = written(result, AuditFormat.JUNIT)
    for schema in SCHEMAS:
        schema.validate(ET.fromstring(text))
    return list(ET.fromstring(text.encode()))


def _outcomes(suite: ET.Element) -> dict[str, str]:
    return {
        case.attrib["name"].split()[1]: next((child.tag for child in case), "passed") for case in suite.iter("testcase")
    }


def test_the_corpus_is_valid_and_every_rule_is_a_test_of_every_node():
    """As many tests as nodes times rules, counted as the attributes of each suite say."""
    result = inspect([*LOGS, *sorted(INCIDENT.glob("*.log"))])
    suites = [suite for suite in _suites(result) if suite.attrib["name"] != "not inspected"]
    assert [suite.attrib["name"] for suite in suites] == [node.name for node in result.nodes]
    for suite in suites:
        outcomes = list(_outcomes(suite).values())
        assert len(outcomes) == int(suite.attrib["tests"]) == len(RULES)
        for outcome, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert outcomes.count(outcome) == int(suite.attrib[attribute])
    failed = {
        (suite.attrib["name"], rule) for suite in suites for rule, out in _outcomes(suite).items() if out == "failure"
    }
    assert failed == {(finding.node, finding.rule) for finding in result.findings}


@pytest.mark.parametrize("took_s", [0.0004, 1.5, 5400.25])
def test_times_add_up_to_what_the_run_took(took_s: float):
    """Each test has a share of the time that was measured, to what is printed of it; none is invented, none is 0."""
    result = inspect(LOGS[:3])
    text = rendered(result, AuditFormat.JUNIT, replace(RUN, took_s=took_s))
    for schema in SCHEMAS:
        schema.validate(ET.fromstring(text))
    suites = list(ET.fromstring(text.encode()))
    times = [float(case.attrib["time"]) for suite in suites for case in suite.iter("testcase")]
    assert min(times) > 0
    assert sum(times) == pytest.approx(took_s, abs=5e-7 * len(times))
    assert sum(float(suite.attrib["time"]) for suite in suites) == pytest.approx(took_s, abs=5e-4 * len(suites))


def test_a_report_without_any_test_has_no_time_to_share():
    """Nothing inspected and nothing left out: an empty suite, and no division by none."""
    (suite,) = _suites(AuditResult((), (), ()))
    assert (suite.attrib["tests"], suite.attrib["time"]) == ("0", "0.000")


def test_the_schemas_are_really_asked():
    """A document that breaks them fails: that check can fail."""
    root = ET.fromstring(written(audit_of("a"), AuditFormat.JUNIT))
    del root[0].attrib["name"]
    assert [schema.is_valid(root) for schema in SCHEMAS] == [False, False]


def test_a_rule_that_could_not_tell_is_skipped_and_the_others_are_not(tmp_path: Path):
    """Without its context, a node's sizes cannot be judged; that nothing was refused can."""
    (suite,) = _suites(audited(tmp_path, "INFO [kv_cache_utils.py:1] GPU KV cache size: 900 tokens"))
    outcomes = _outcomes(suite)
    assert outcomes["pool-below-context"] == outcomes["asymmetric-pools"] == "skipped"
    assert outcomes["check-failed"] == "passed"


def test_a_clean_node_passes(tmp_path: Path):
    """Where all was seen and nothing found, every test passes."""
    (suite,) = _suites(audited(tmp_path, f"{UNIFIED}\n{HEADLINE.format(rank='', pool=512, context=512)}"))
    assert set(_outcomes(suite).values()) == {"passed"}


def test_a_gap_of_unknown_reach_skips_every_rule_and_a_remark_none():
    """Where nobody says which rules a gap stops, it stops all; what does not decide stops none."""
    result = replace(audit_of("a"), findings=())
    (suite, elsewhere) = _suites(result)
    assert set(_outcomes(suite).values()) == {"skipped"}
    assert elsewhere.attrib["name"] == "not inspected"
    remark = replace(result, not_checked=(NotChecked("a", "whatever", decisive=False),))
    assert {out for suite in _suites(remark) for out in _outcomes(suite).values()} == {"passed"}


def test_a_rule_that_was_not_asked_does_not_pass():
    """Without --source no fix was looked for; nothing hangs on it, and it is no test that passed either."""
    gap = NotChecked("a", "which fixes are in the code was not looked at", decisive=False, rules=("fix-absent",))
    (suite,) = _suites(replace(audit_of("a"), findings=(), not_checked=(gap,)))
    assert {rule: out for rule, out in _outcomes(suite).items() if out != "passed"} == {"fix-absent": "skipped"}


def test_a_rule_that_failed_is_an_error_on_every_node():
    """A failure of our own is told apart from "could not tell"."""
    gap = NotChecked("rule checks-off", "it failed", rules=("checks-off",), broken=True)
    (suite,) = _suites(replace(audit_of("a"), findings=(), not_checked=(gap,)))
    assert {rule for rule, out in _outcomes(suite).items() if out == "error"} == {"checks-off"}
    assert "skipped" not in _outcomes(suite).values()


def test_nothing_at_all_is_no_empty_pass():
    """A target without any node is a suite of what was not inspected."""
    (suite,) = _suites(AuditResult((), (), (NotChecked("noise.log", "no line was recognised"),)))
    assert (suite.attrib["tests"], suite.attrib["skipped"]) == ("1", "1")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_valid(text: str):
    """Names and texts of any kind make a valid document."""
    _suites(audit_of(text))


@settings(max_examples=25)
@given(st.text())
def test_any_text_stays_valid(text: str):
    """The same for whatever Hypothesis thinks of."""
    _suites(audit_of(text))
