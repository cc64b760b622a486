"""Findings, verdicts, and how they combine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.findings.deployment import AuditResult, Node, NotChecked
from kvfence.findings.finding import Confidence, Evidence, Finding, Severity
from kvfence.findings.verdict import Verdict, combined

SEEN = Evidence(file="f", line=1, text="t")
NODE = Node("n", {})
VERDICTS = st.lists(st.sampled_from(Verdict))


def finding(evidence: tuple[Evidence, ...] = (SEEN,)) -> Finding:
    """Some finding."""
    return Finding(
        rule="r",
        severity=Severity.LOW,
        confidence=Confidence.HIGH,
        node="n",
        message="m",
        evidence=evidence,
        fix="f",
    )


def test_a_finding_without_evidence_cannot_be_made():
    """A finding without a place where it was seen is an error of the rule."""
    with pytest.raises(ValueError, match="needs evidence"):
        finding(())


@given(VERDICTS)
def test_found_beats_unknown_beats_clean(verdicts: list[Verdict]):
    """Of several verdicts the worst stands, and of none nothing is known."""
    expected = (
        Verdict.FOUND
        if Verdict.FOUND in verdicts
        else Verdict.UNKNOWN
        if not verdicts or Verdict.UNKNOWN in verdicts
        else Verdict.CLEAN
    )
    assert combined(verdicts) == expected


@given(VERDICTS, VERDICTS)
def test_combining_in_parts_changes_nothing(left: list[Verdict], right: list[Verdict]):
    """Verdicts may be combined in any order and grouping."""
    if left and right:
        assert combined([combined(left), combined(right)]) == combined(right + left)


def test_an_audit_is_clean_only_when_all_that_decides_was_seen():
    """No node, or a gap that decides, is unknown; a finding is found; a gap that does not decide is clean."""
    gap = NotChecked("n", "why")
    told = NotChecked("n", "why", decisive=False)
    verdicts = {
        "nothing": AuditResult((), (), ()).verdict,
        "gap": AuditResult((NODE,), (), (gap,)).verdict,
        "told": AuditResult((NODE,), (), (told,)).verdict,
        "all": AuditResult((NODE,), (), ()).verdict,
        "found": AuditResult((NODE,), (finding(),), (gap,)).verdict,
    }
    assert verdicts == {
        "nothing": Verdict.UNKNOWN,
        "gap": Verdict.UNKNOWN,
        "told": Verdict.CLEAN,
        "all": Verdict.CLEAN,
        "found": Verdict.FOUND,
    }
