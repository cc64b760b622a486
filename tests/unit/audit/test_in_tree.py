"""Advisories held against the code that was given: a backport ends one, a tree that lacks the fix is told with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.audit import inspect
from kvfence.audit.advisory import advisories
from kvfence.audit.inspection import judged
from kvfence.audit.rules.fix_absent import JUDGED
from kvfence.facts.fact import NodeFacts
from kvfence.facts.source.read_source import read_source
from kvfence.findings.deployment import AuditResult
from kvfence.findings.finding import Confidence, Finding
from kvfence.findings.source_tree import SourceTree
from support.audit_logs import INCIDENT
from support.audit_nodes import Value, sglang, vllm
from support.engine_trees import PREFILL, PREFILL_GATE, RESULT_GATE, SGLANG, Tree, changed, packed, unfixed
from support.vllm_trees import EXPIRY, LATE, READER, SENDER, VLLM

RULE = "affected-version"
PLACEHOLDER, RACE, NO_COMPARISON, LEASE = (f"x_KVFENCE-2026-000{number}" for number in (1, 2, 3, 5))


def _tree(folder: Path, tree: Tree, version: str, package: str = "sglang", name: str = "") -> SourceTree:
    path = folder / f"{name or package}-{version}-py3-none-any.whl"
    (read,) = read_source(str(packed(path, _called(tree, version), package, version))).trees
    assert read.version_said == version
    return read


def _called(tree: Tree, version: str) -> Tree:
    return {**tree, "version.py": f'__version__ = "{version}"\n'}


def _found(result: AuditResult) -> list[Finding]:
    return [finding for finding in result.findings if finding.rule == RULE]


def _told(result: AuditResult) -> str:
    return " ".join(gap.why for gap in result.not_checked if RULE in gap.rules)


def _prefill(**facts: Value) -> NodeFacts:
    return sglang("prefill", **{"engine_version": "0.5.19", **facts})


def test_a_backport_ends_what_the_version_says(tmp_path: Path):
    """0.5.19 with the door in it: the placeholder is told with its line and not found; the race stays the version's."""
    result = judged([_prefill()], (), trees=[_tree(tmp_path, SGLANG, "0.5.19")])
    (finding,) = _found(result)
    assert (PLACEHOLDER in finding.message, RACE in finding.message) == (False, True)
    (gap,) = [gap for gap in result.not_checked if PLACEHOLDER in gap.why]
    assert not gap.decisive
    assert "not reported by its version, SGLang 0.5.19" in gap.why
    assert f"sglang/{PREFILL}:" in gap.why


@pytest.mark.parametrize("taken_out", [(), (PREFILL_GATE,), (RESULT_GATE,), (PREFILL_GATE, RESULT_GATE)])
def test_either_gate_of_prefill_ends_the_placeholder_and_neither_does_not(tmp_path: Path, taken_out: tuple[str, ...]):
    """One of two is enough; without both, the finding names the version and what the tree lacks."""
    tree = dict(SGLANG)
    for gate in taken_out:
        tree = changed(tree, PREFILL, gate)
    (finding,) = _found(judged([_prefill()], (), trees=[_tree(tmp_path, tree, "0.5.19")]))
    assert (PLACEHOLDER in finding.message) == (len(taken_out) == 2)
    assert ("lacks prefill-door, prefill-result-gate too" in finding.message) == (len(taken_out) == 2)


def test_an_absent_fix_is_told_beside_the_version_with_its_line(tmp_path: Path):
    """Evidence is the version's and the tree's."""
    (finding,) = _found(judged([_prefill()], (), trees=[_tree(tmp_path, unfixed(), "0.5.19")]))
    assert "runs SGLang 0.5.19" in finding.message
    assert any(seen.file.endswith(PREFILL) and seen.line for seen in finding.evidence)
    assert any("engine_version=0.5.19" in seen.text for seen in finding.evidence)


def test_a_tree_closes_what_the_version_left_open(tmp_path: Path):
    """Without any version it is open; a tree without the gates makes it a finding, one with them ends it."""
    node = _prefill(engine_version=None)
    assert PLACEHOLDER in _told(judged([node], ()))
    (finding,) = _found(judged([node], (), trees=[_tree(tmp_path, unfixed(), "0.5.19")]))
    assert PLACEHOLDER in finding.message
    assert finding.confidence is Confidence.MEDIUM
    whole = judged([node], (), trees=[_tree(tmp_path, SGLANG, "0.5.20")])
    assert not [gap for gap in whole.not_checked if gap.decisive and PLACEHOLDER in gap.why]


@pytest.mark.parametrize(
    ("facts", "speaks"),
    [
        ({"engine_version": "0.5.19"}, True),
        ({"engine_version": "v0.5.19+cu129"}, True),
        ({"engine_version": "0.5.19.post1"}, False),
        ({"engine_version": "0.5.18"}, False),
        ({"engine_version": None, "engine_version_max": "0.5.18"}, False),
        ({"engine_version": None, "engine_version_min": "0.5.17", "engine_version_max": "0.5.19"}, True),
    ],
)
def test_a_tree_of_another_version_absolves_nobody(tmp_path: Path, facts: dict[str, Value], speaks: bool):
    """What calls itself otherwise than what runs is not what runs: the version decides, and that is said."""
    result = judged([_prefill(**facts)], (), trees=[_tree(tmp_path, SGLANG, "0.5.19")])
    (finding,) = _found(result)
    assert (PLACEHOLDER in finding.message) is not speaks
    assert ("calls itself 0.5.19, and this worker runs" in _told(result)) is not speaks


def test_two_trees_end_it_only_together(tmp_path: Path):
    """Which of them prefill runs is not known: one without the gates is enough for the finding."""
    trees = [_tree(tmp_path, SGLANG, "0.5.19", name="a"), _tree(tmp_path, unfixed(), "0.5.19", name="b")]
    (finding,) = _found(judged([_prefill()], (), trees=trees))
    assert f"the tree {trees[1].name} lacks" in finding.message


def test_what_cannot_be_told_of_a_tree_leaves_it_to_the_version(tmp_path: Path):
    """A file that does not parse ends nothing and accuses nobody."""
    (finding,) = _found(judged([_prefill()], (), trees=[_tree(tmp_path, {**SGLANG, PREFILL: "x = ("}, "0.5.19")]))
    assert PLACEHOLDER in finding.message
    assert "prefill-door" not in finding.message


def test_a_length_check_in_the_tree_ends_the_missing_comparison(tmp_path: Path):
    """No release has it; a fork that has it is not told of the release."""
    decode = sglang("decode", checks="none", kv_checksum=False)
    assert NO_COMPARISON in _found(judged([decode], ()))[0].message
    assert _found(judged([decode], (), trees=[_tree(tmp_path, SGLANG, "0.5.23")])) == []


@pytest.mark.parametrize(
    ("tree", "ends", "lacks"),
    [
        (VLLM, True, False),
        (changed(VLLM, READER, EXPIRY), True, False),
        (changed(changed(VLLM, READER, EXPIRY), SENDER, LATE), False, True),
    ],
    ids=["whole", "late-reads-fail", "neither"],
)
def test_vllms_lease_is_ended_by_either_side(tmp_path: Path, tree: Tree, ends: bool, lacks: bool):
    """It hangs on a hold that no source shows, and stays a gap; the tree says which side it lacks."""
    trees = [_tree(tmp_path, tree, "0.32.0", "vllm")]
    told = _told(judged([vllm("decode", transfer_backend="NixlConnector")], (), trees=trees))
    assert (f"{LEASE} is not reported by its version" in told) is ends
    assert ("lacks nixl-late-read-fails, nixl-expiry-checked too" in told) is lacks


def test_another_engines_tree_says_nothing(tmp_path: Path):
    """VLLM's tree beside SGLang's log."""
    result = judged([_prefill()], (), trees=[_tree(tmp_path, VLLM, "0.5.19", "vllm")])
    assert PLACEHOLDER in _found(result)[0].message


def test_a_record_names_only_fixes_that_trees_are_asked_for():
    """A misspelt id would never be in any tree, and never absent."""
    for record in advisories():
        specific = record.database_specific
        named = {fix for fixes in specific.ended_by for fix in fixes} | set(specific.part_of_end)
        assert named <= JUDGED, record.id


def test_the_incidents_log_beside_its_own_code(tmp_path: Path):
    """The log leaves open whether it is 0.5.20; a wheel of 0.5.19 without the gates closes that, one with them too."""
    log = INCIDENT / "sglang-0.5.19-prefill.log"
    wheel = packed(tmp_path / "sglang-0.5.19-py3-none-any.whl", _called(unfixed(), "0.5.19"))
    (finding,) = _found(inspect([log], sources=[wheel]))
    assert PLACEHOLDER in finding.message
    fixed = packed(tmp_path / "sglang-0.5.20-py3-none-any.whl", _called(SGLANG, "0.5.20"))
    result = inspect([log], sources=[fixed])
    assert not any(PLACEHOLDER in one.message for one in _found(result))
    assert f"{PLACEHOLDER} is not reported" in _told(result)
