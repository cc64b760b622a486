"""Advisories are OSV records that hold, and a node is told of those that are its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import kvfence.audit
from kvfence.audit import inspect
from kvfence.audit.advisory import advisories
from kvfence.facts.fact import FACT_NAMES, NodeFacts
from kvfence.findings.finding import Confidence, Severity
from support.audit_logs import CORPUS, INCIDENT, audited
from support.audit_nodes import Value, missed_by, node, said_of, sglang, vllm

RULE = "affected-version"
RECORDS = sorted((Path(kvfence.audit.__file__).parent / "advisories").glob("*.json"))
SCHEMA = Draft202012Validator(
    json.loads((CORPUS / "schemas" / "osv-schema.json").read_text("utf-8")),
    format_checker=Draft202012Validator.FORMAT_CHECKER,
)
PLACEHOLDER, RACE, NO_COMPARISON, HYBRID, TWO_WAYS = (f"x_KVFENCE-2026-000{number}" for number in (1, 2, 3, 4, 6))


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_a_record_is_osv(record: Path):
    """Each file is valid by the official schema, named as its id, and cites a public report."""
    content = json.loads(record.read_text("utf-8"))
    assert list(SCHEMA.iter_errors(content)) == []
    assert content["id"] == f"x_{record.stem}"
    assert all(one["url"].startswith("https://github.com/") for one in content["references"])
    assert content["references"]


@pytest.mark.parametrize("broken", [{"id": "KVFENCE-2026-0001"}, {"affected": [{"ranges": [{"type": "SEMVER"}]}]}])
def test_the_schema_is_really_asked(broken: dict[str, object]):
    """An id of no database and a range without events are refused."""
    record = json.loads(RECORDS[0].read_text("utf-8"))
    assert list(SCHEMA.iter_errors(record | broken))


def test_every_record_is_loaded():
    """None is left out, and none names a CVE that does not exist."""
    assert [advisory.id for advisory in advisories()] == [f"x_{record.stem}" for record in RECORDS]
    assert all("CVE-" not in record.read_text("utf-8") for record in RECORDS)


@pytest.mark.parametrize(
    ("role", "version", "expected"),
    [
        ("prefill", "0.5.19", {PLACEHOLDER, RACE}),
        ("prefill", "0.5.20", {RACE}),
        ("prefill", "0.5.21", {RACE}),
        ("prefill", "0.5.22", set()),
        ("prefill", "v0.5.21.post1", {RACE}),
        ("prefill", "0.3.9", {PLACEHOLDER}),
        ("decode", "0.5.19", {RACE, NO_COMPARISON}),
        ("decode", "0.5.22", {NO_COMPARISON}),
        ("decode", "0.5.23", {NO_COMPARISON}),
        ("unified", "0.5.19", set()),
    ],
)
def test_a_version_has_the_faults_of_its_range_and_role(role: str, version: str, expected: set[str]):
    """Each side of each boundary, with no check on."""
    worker = sglang(role, engine_version=version, checks="none", kv_checksum=False)
    found = " ".join(finding.message for finding in said_of(RULE, worker))
    assert {advisory.id for advisory in advisories() if advisory.id in found} == expected


@pytest.mark.parametrize(
    ("worker", "severity", "confidence"),
    [
        (sglang("prefill", engine_version="0.5.19"), Severity.CRITICAL, Confidence.HIGH),
        (sglang("prefill", engine_version="0.5.9"), Severity.CRITICAL, Confidence.MEDIUM),
        (sglang("prefill", engine_version="0.5.21"), Severity.HIGH, Confidence.HIGH),
        (sglang("prefill", engine_version=None, engine_version_max="0.5.18"), Severity.CRITICAL, Confidence.MEDIUM),
        (sglang("decode", engine_version="0.5.19"), Severity.HIGH, Confidence.HIGH),
        (sglang("decode", checks="none"), Severity.LOW, Confidence.HIGH),
        (sglang("decode", checks="none", engine_version="0.5.24"), Severity.LOW, Confidence.MEDIUM),
    ],
)
def test_a_finding_is_as_bad_as_its_role_and_as_sure_as_its_version(
    worker: NodeFacts, severity: Severity, confidence: Confidence
):
    """Severity by role, confidence by whether the version was read and is one that was read for the record."""
    (finding,) = said_of(RULE, worker)
    assert (finding.severity, finding.confidence) == (severity, confidence)
    assert finding.evidence[0].text.startswith("engine_version")


def test_the_fix_is_the_release_that_ends_the_last_of_them():
    """Two fixed faults, one without a fix: the later release, and the check that covers the rest."""
    (finding,) = said_of(RULE, sglang("decode", engine_version="0.5.19", checks="none"))
    assert "SGLang 0.5.22 or later" in finding.fix
    assert f"Against {NO_COMPARISON}, set --disaggregation-enable-kv-checksum" in finding.fix


@pytest.mark.parametrize("checks", ["kv-checksum", "kv-canary=log", "kv-canary=raise,kv-checksum", None])
def test_a_check_that_covers_a_fault_ends_it(checks: str | None):
    """With a check on, decode's missing comparison is none; with checks not known it is a gap of another kind."""
    decode = sglang("decode", checks=checks)
    assert said_of(RULE, decode) == []
    assert bool(missed_by(RULE, decode)) == (checks is None)


@pytest.mark.parametrize(
    ("facts", "open_of"),
    [
        ({}, {PLACEHOLDER, RACE}),
        ({"engine_version_min": "0.5.11"}, {PLACEHOLDER, RACE}),
        ({"engine_version_min": "0.5.21"}, {RACE}),
        ({"engine_version_max": "0.5.20"}, {PLACEHOLDER}),
        ({"engine_version_min": "0.5.22"}, set()),
        ({"engine_version": "0.5.22rc1"}, {RACE}),
        ({"engine_version": "0.5.22.post1"}, set()),
    ],
)
def test_bounds_that_do_not_decide_are_a_gap(facts: dict[str, str], open_of: set[str]):
    """What the version leaves open is named with the release that would end it, and the verdict is not clean."""
    gaps = missed_by(RULE, sglang("prefill", **{"engine_version": None, **facts}))
    told = " ".join(gap.why for gap in gaps)
    assert {advisory.id for advisory in advisories() if advisory.id in told} == open_of
    assert all(gap.decisive and "/server_info says the version" in gap.why for gap in gaps)


@pytest.mark.parametrize(
    ("connector", "told"),
    [("NixlConnector", True), ("MultiConnector", True), (None, True), ("MooncakeConnector", False)],
)
def test_what_hangs_on_more_than_the_version_is_told_and_not_found(connector: str | None, told: bool):
    """VLLM's faults are NIXL's and need what no source shows: a gap that does not decide, and no finding."""
    worker = vllm("decode", transfer_backend=connector)
    gaps = missed_by(RULE, worker)
    assert said_of(RULE, worker) == []
    assert bool(gaps) == told
    assert not any(gap.decisive for gap in gaps)


def test_no_other_engine_has_any():
    """Advisories are of SGLang's and vLLM's halves of a pair."""
    other = node("a", engine="llama.cpp", role="prefill", checks="none")
    assert said_of(RULE, other) == []
    assert missed_by(RULE, other) == []


def test_an_unknown_role_leaves_the_rule_open():
    """It may be half of a pair: nothing is found, and it is told what says the role."""
    unknown = node("b", engine="sglang", engine_version="0.5.19")
    assert said_of(RULE, unknown) == []
    (gap,) = missed_by(RULE, unknown)
    assert "server_args line" in gap.why


def test_the_incident_s_own_log_bounds_its_version():
    """SGLang 0.5.19 prints settings that put it at 0.5.20 or older: the race is found, the placeholder left open."""
    result = inspect([INCIDENT / "sglang-0.5.19-prefill.log"])
    (finding,) = [one for one in result.findings if one.rule == RULE]
    assert (finding.severity, finding.confidence) == (Severity.HIGH, Confidence.MEDIUM)
    assert "0.5.17 to 0.5.20" in finding.message
    (gap,) = [one for one in result.not_checked if RULE in one.rules]
    assert PLACEHOLDER in gap.why


def test_a_dump_of_settings_bounds_the_release_before_the_policy(tmp_path: Path):
    """A whole dump with the checksum and without the policy of allocation is 0.5.21, which has the race."""
    dump = "{'disaggregation_mode': 'decode', 'kv_canary': 'none', 'disaggregation_enable_kv_checksum': True}"
    result = audited(tmp_path, f"[2026-12-01 13:18:11] server_args={dump}")
    (finding,) = [one for one in result.findings if one.rule == RULE]
    assert "SGLang 0.5.21." in finding.message
    assert RACE in finding.message
    policy = "'disaggregation_decode_allocation_policy': 'early'"
    assert not [
        one
        for one in audited(tmp_path, f"[2026-12-01 13:18:11] server_args={dump[:-1]}, {policy}}}").findings
        if one.rule == RULE
    ]


@pytest.mark.parametrize(
    ("role", "facts", "found", "told"),
    [
        ("decode", {"hybrid_kv": True}, HYBRID, TWO_WAYS),
        ("decode", {}, None, HYBRID),
        ("prefill", {"kv_two_ways": True}, TWO_WAYS, None),
        ("prefill", {"kv_two_ways": False}, None, None),
        ("prefill", {}, None, TWO_WAYS),
        ("decode", {"hybrid_kv": True, "transfer_backend": "MooncakeConnector"}, None, None),
    ],
)
def test_what_a_fault_of_vllm_needs_decides_it_where_it_is_shown(
    role: str, facts: dict[str, Value], found: str | None, told: str | None
):
    """Shown, it is a finding with its place and what to do; shown to be off, nothing; not shown, a note."""
    one = vllm(role, **{"transfer_backend": "NixlConnector", **facts})
    messages = " ".join(finding.message for finding in said_of(RULE, one))
    notes = " ".join(gap.why for gap in missed_by(RULE, one) if not gap.decisive)
    assert [record for record in (HYBRID, TWO_WAYS) if record in messages] == ([found] if found else [])
    assert told is None or told in notes
    assert told is not None or TWO_WAYS not in notes
    for finding in said_of(RULE, one):
        assert any(seen.text.startswith(("hybrid_kv", "kv_two_ways")) for seen in finding.evidence)
        assert f"Against {found}, " in finding.fix


def test_a_hybrid_model_over_a_connector_that_is_not_known_leaves_it_open():
    """It could be a finding, so it decides; without the model's kind it is one more note."""
    for facts, decisive in (({"hybrid_kv": True}, True), ({}, False)):
        gaps = missed_by(RULE, vllm("decode", **{"transfer_backend": None, **facts}))
        assert any(HYBRID in gap.why and gap.decisive for gap in gaps) is decisive


def test_a_record_that_needs_more_says_what_to_do():
    """No release ends these; a record without advice would end in a finding without a way out."""
    for record in advisories():
        specific = record.database_specific
        assert specific.needs is None or record.fixed or specific.advice, record.id
        assert specific.needs_fact is None or specific.needs_fact in FACT_NAMES, record.id
