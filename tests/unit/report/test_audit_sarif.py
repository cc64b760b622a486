"""An audit as SARIF: valid by the official schema, the same finding over runs, nothing silent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from kvfence.audit import inspect
from kvfence.audit.registry import RULES
from kvfence.findings.deployment import AuditResult
from kvfence.findings.finding import Severity
from kvfence.report.audit_formats import AuditFormat
from kvfence.report.audit_sarif import FINGERPRINT
from support.audit_logs import CORPUS, INCIDENT, LOGS
from support.audit_results import HOSTILE, audit_of, written

OFFICIAL = Draft4Validator(
    json.loads((CORPUS / "schemas" / "sarif-schema-2.1.0.json").read_text("utf-8")),
    format_checker=Draft4Validator.FORMAT_CHECKER,
)
INCIDENT_LOGS = sorted(INCIDENT.glob("*.log"))


def _run(result: AuditResult) -> dict:
    document = json.loads(written(result, AuditFormat.SARIF))
    OFFICIAL.validate(document)
    return document["runs"][0]


def test_the_corpus_is_valid_by_the_official_schema():
    """All nodes of the corpus at once, with every finding and every gap."""
    result = inspect([*LOGS, *INCIDENT_LOGS])
    run = _run(result)
    assert len(run["results"]) == len(result.findings) > 5
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert len(notes) == len(result.not_checked) > 1


def test_a_gap_that_decides_is_a_warning_of_the_run():
    """What could have been a finding is louder than a remark."""
    (invocation,) = _run(inspect([INCIDENT / "sglang-0.5.19-decode.log"]))["invocations"]
    assert "warning" in {note["level"] for note in invocation["toolExecutionNotifications"]}
    assert invocation["executionSuccessful"] is True


def test_the_official_schema_is_really_asked():
    """A document that breaks it fails: that check can fail."""
    document = json.loads(written(inspect(INCIDENT_LOGS), AuditFormat.SARIF))
    document["runs"][0]["results"][0]["level"] = "critical"
    assert not OFFICIAL.is_valid(document)


def test_every_rule_is_described_and_every_result_points_at_its_own():
    """A rule's index, code, and worst severity of this run belong together."""
    run = _run(inspect(INCIDENT_LOGS))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(rule.code for rule in RULES)
    for found in run["results"]:
        rule = rules[found["ruleIndex"]]
        assert (rule["id"], rule["name"]) == (found["ruleId"], found["properties"]["rule"])
        assert "security-severity" in rule["properties"]


@pytest.mark.parametrize(
    ("severity", "level"),
    [("critical", "error"), ("high", "error"), ("medium", "warning"), ("low", "note"), ("info", "note")],
)
def test_a_severity_has_its_level(severity: str, level: str):
    """Critical and high are errors, medium a warning, the rest notes."""
    result = audit_of("a")
    (finding,) = result.findings
    (found,) = _run(replace(result, findings=(replace(finding, severity=Severity(severity)),)))["results"]
    assert found["level"] == level


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("logs/a b.log", "logs/a%20b.log"),
        ("./a#1.log", "a%231.log"),
        ("/var/log/a.log", "file:///var/log/a.log"),
        ("-", "stdin"),
        ("http://10.0.0.1:30000/server_info?x=1", "http://10.0.0.1:30000/server_info?x=1"),
    ],
)
def test_a_place_is_a_uri(file: str, uri: str):
    """Relative paths stay relative, absolute ones and URLs are absolute; a region has its line."""
    (found,) = _run(audit_of("node-0", file=file))["results"]
    place = found["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == uri
    assert place["physicalLocation"]["region"]["startLine"] == 3
    assert place["logicalLocations"][0]["name"] == "node-0"
    (related,) = found["relatedLocations"]
    assert "region" not in related["physicalLocation"]


def test_a_finding_keeps_its_fingerprint_when_lines_and_figures_move():
    """The same fault in tomorrow's log is the same finding; two findings never share a fingerprint."""

    def prints(result: AuditResult) -> list[str]:
        return [found["partialFingerprints"][FINGERPRINT] for found in _run(result)["results"]]

    one = audit_of("node-0", file="monday.log")
    (finding,) = one.findings
    moved = replace(finding, message="The KV pool holds 1 token.", evidence=finding.evidence[1:])
    assert prints(one) == prints(replace(one, findings=(moved,)))
    twice = prints(replace(one, findings=(finding, moved, replace(finding, node="node-1"))))
    assert len(set(twice)) == 3
    assert twice[0] == prints(one)[0]


def test_a_rule_that_failed_makes_the_run_unsuccessful():
    """A failure of our own is an error of the run, not a remark."""
    result = audit_of("a")
    (gap, *_rest) = result.not_checked
    (invocation,) = _run(replace(result, not_checked=(replace(gap, broken=True),)))["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [note["level"] for note in invocation["toolExecutionNotifications"]] == ["error"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_valid(text: str):
    """Names and texts of any kind make a valid document."""
    _run(audit_of(text))


@settings(max_examples=25)
@given(st.text())
def test_any_text_stays_valid(text: str):
    """The same for whatever Hypothesis thinks of."""
    _run(audit_of(text))
