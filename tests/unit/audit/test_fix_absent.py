"""Findings made of a source tree: how bad each is, what covers what, and what is told as not looked at."""

from __future__ import annotations

import pytest

from kvfence.audit import inspect
from kvfence.audit.rules.fix_absent import JUDGED
from kvfence.facts.source.questions import CATALOGUE
from kvfence.findings.verdict import Verdict
from support.audit_logs import INCIDENT
from support.engine_trees import (
    DECODE,
    DECODE_GATE,
    PREFILL,
    PREFILL_GATE,
    RESULT_GATE,
    RUNNER,
    SCHEDULER,
    SGLANG,
    changed,
    laid_out,
    unfixed,
)


def found(folder, tree, engine="sglang"):
    return inspect([], sources=[laid_out(folder, tree, engine)])


@pytest.mark.parametrize(
    ("tree", "severities"),
    [
        (SGLANG, []),
        (unfixed(), ["critical", "critical", "low"]),
        (changed(SGLANG, PREFILL, PREFILL_GATE), ["medium"]),
        (changed(SGLANG, PREFILL, RESULT_GATE), ["low"]),
        (changed(SGLANG, DECODE, DECODE_GATE), ["low"]),
        (changed(SGLANG, DECODE, "self._held.append(", "self.count("), ["high"]),
    ],
    ids=["whole", "no-gates", "no-door", "no-result-gate", "no-decode-door", "no-hold"],
)
def test_what_another_fix_covers_weighs_less(tmp_path, tree, severities):
    """Both gates gone is critical; one of them covers the other; a default of what is not there is not told twice."""
    assert [str(finding.severity) for finding in found(tmp_path, tree).findings] == severities


def test_every_question_is_judged_but_the_one_that_no_release_answers():
    """A new question gets its severity, or is named here."""
    asked = {question.fix for catalogue in CATALOGUE.values() for question in catalogue.questions}
    assert asked - JUDGED == {"no-placeholder"}
    assert asked >= JUDGED


def test_what_cannot_be_told_decides_only_where_it_could_be_a_finding(tmp_path):
    """A broken runner hides the canary; a scheduler without an intake hides nothing that is judged."""
    hidden = found(tmp_path / "a", {**SGLANG, RUNNER: "x = ("})
    assert hidden.verdict is Verdict.UNKNOWN
    told = found(tmp_path / "b", changed(SGLANG, SCHEDULER, "def handle_generate_request", "def take"))
    assert told.verdict is Verdict.CLEAN
    assert ["no-placeholder" in gap.why for gap in told.not_checked] == [True]


def test_a_pair_whose_code_was_not_given_is_told_how_to_give_it(tmp_path):
    """It decides nothing, and is gone once the tree is there."""
    logs = sorted(INCIDENT.glob("sglang-0.5.19-*.log"))
    (gap,) = [gap for gap in inspect(logs).not_checked if "--source" in gap.why]
    assert not gap.decisive
    with_tree = inspect(logs, sources=[laid_out(tmp_path, SGLANG)])
    assert [gap for gap in with_tree.not_checked if "--source" in gap.why] == []
