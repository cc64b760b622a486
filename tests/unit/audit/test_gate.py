"""The gate: what moved the wrong way is found beside what else changed, and what is no longer seen is said."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.audit.baseline import check, record
from kvfence.audit.baseline.direction import GATE_RULES, NOT_LOCKED, WATCHED, Wrong, moved_wrong
from kvfence.audit.baseline.lawful import wrong_value
from kvfence.audit.baseline.lock import lock_text, read_lock
from kvfence.errors import TargetError
from kvfence.facts.fact import FACT_NAMES
from kvfence.findings.deployment import AuditResult, Node
from kvfence.findings.verdict import Verdict
from kvfence.report.audit_formats import AuditFormat
from support.audit_logs import CELL_START, INCIDENT
from support.audit_results import written

CHECKS = "I1,I2-count,I2-digest,I3,I4,I5"
ROLES = ("prefill", "decode")
PREFILL, DECODE = (INCIDENT / f"sglang-0.5.19-{role}.log" for role in ROLES)


def _logs(
    folder: Path, *, pool: int = 2000, checks: str = CHECKS, change: Mapping[str, str] | None = None
) -> list[Path]:
    """A pair of cell workers that say so of themselves."""
    logs = []
    for role in ROLES:
        text = CELL_START.format(role=role, rules="fenced", pool=pool, checks=checks)
        for old, new in (change or {}).items():
            text = text.replace(old, new)
        logs.append(folder / f"{role}.log")
        logs[-1].write_text(text + "\n")
    return logs


def _moved(folder: Path, *, tolerance: float = 0.02, **now: object) -> AuditResult:
    """What the gate says after a change of both workers."""
    lock = folder / "kvfence.lock"
    record(_logs(folder), lock)
    return check(_logs(folder, **now), lock, tolerance=tolerance)  # type: ignore[arg-type]  # passed on as given


def _rules(result: AuditResult) -> set[str]:
    return {finding.rule for finding in result.findings}


def test_what_has_not_changed_passes(tmp_path: Path):
    """The same logs against their own lock file are clean."""
    assert _moved(tmp_path).verdict is Verdict.CLEAN


@pytest.mark.parametrize(
    ("now", "rule"),
    [
        ({"pool": 1900}, "pool-below-baseline"),
        ({"pool": 1961}, None),
        ({"pool": 1959}, "pool-below-baseline"),
        ({"pool": 2100}, None),
        ({"change": {"context_length=1536": "context_length=1537"}}, "promise-above-baseline"),
        ({"change": {"context_length=1536": "context_length=1500"}}, None),
        ({"change": {"engine_version=0.1.0": "engine_version=0.0.9"}}, "version-below-baseline"),
        ({"change": {"engine_version=0.1.0": "engine_version=0.10.0"}}, None),
        ({"checks": "I1,I2-count"}, "checks-below-baseline"),
        ({"checks": "none"}, "checks-below-baseline"),
        ({"change": {"kv_dtype=float32": "kv_dtype=int8"}}, None),
    ],
)
def test_only_the_wrong_direction_is_found(tmp_path: Path, now: dict[str, object], rule: str | None):
    """Each kind of fact has a wrong way; the other way, and what is watched by nobody, pass."""
    assert _rules(_moved(tmp_path, **now)) == ({rule} if rule else set())


def test_a_pool_that_falls_below_its_context_is_found_within_the_tolerance(tmp_path: Path):
    """From 1,540 to 1,530 is under a percent, and below the 1,536 that are promised."""
    lock = tmp_path / "kvfence.lock"
    record(_logs(tmp_path, pool=1540), lock)
    assert _rules(check(_logs(tmp_path, pool=1530), lock)) == {"pool-below-baseline"}


def test_what_moved_is_named_beside_what_else_changed(tmp_path: Path):
    """Both figures, the share, the other changes, the place now and the line of the lock file."""
    result = _moved(tmp_path, pool=1000, change={"kv_dtype=float32": "kv_dtype=bfloat16", "tp_size=1": "tp_size=2"})
    finding = next(finding for finding in result.findings if finding.node == "prefill-0")
    assert "pool_tokens is 1,000, and 2,000 in the baseline, 1,000 (50.0 %) fewer" in finding.message
    assert "Also changed: kv_dtype float32 → bfloat16; tp_size 1 → 2." in finding.message
    assert finding.evidence[0].file.endswith("prefill.log")
    (place,) = (seen for seen in finding.evidence if seen.text == "pool_tokens = 2000")
    lines = (tmp_path / "kvfence.lock").read_text().splitlines()
    assert lines[(place.line or 0) - 1] == "pool_tokens = 2000"
    assert '[nodes."prefill-0"]' in lines[: place.line]
    assert "--write" in finding.fix


@pytest.mark.parametrize("fact", ["pool_tokens", "context_length"])
def test_a_size_that_the_baseline_does_not_have_is_compared_with_nothing(tmp_path: Path, fact: str):
    """A line that was lost from the lock file does not pass: the pool of today may be any."""
    lock = tmp_path / "kvfence.lock"
    record(_logs(tmp_path), lock)
    lock.write_text("".join(line for line in lock.read_text().splitlines(keepends=True) if not line.startswith(fact)))
    result = check(_logs(tmp_path), lock)
    assert result.verdict is Verdict.UNKNOWN
    assert all(f"does not say its {fact}" in gap.why and "write it anew" in gap.why for gap in result.not_checked)


def test_what_was_wrong_when_it_was_recorded_is_told_and_never_called_clean(tmp_path: Path):
    """The incident's pair passes its own lock file; nobody may read that as a deployment that is right."""
    lock = tmp_path / "kvfence.lock"
    recorded = record([PREFILL, DECODE], lock)
    assert {"pool-below-context", "asymmetric-pools"} <= {finding.rule for finding in recorded.amiss}
    again = check([PREFILL, DECODE], lock)
    assert again.verdict is Verdict.CLEAN
    for result in (recorded.result, again):
        for form in (AuditFormat.TABLE, AuditFormat.HTML):
            words = " ".join(written(result, form).split())
            assert "kvfence audit says" in words
            assert "Clean" not in words
            assert "every rule" not in words


def test_a_node_that_is_gone_is_not_clean(tmp_path: Path):
    """Half of a pair says nothing of the other half."""
    lock = tmp_path / "kvfence.lock"
    record(_logs(tmp_path), lock)
    result = check(_logs(tmp_path)[:1], lock)
    assert result.verdict is Verdict.UNKNOWN
    assert [gap.what for gap in result.not_checked] == ["decode-0"]


def test_a_node_of_a_new_kind_is_not_clean_and_a_new_replica_is_compared(tmp_path: Path):
    """A pod gets a new name with each roll-out: its role finds its baseline."""
    lock = tmp_path / "kvfence.lock"
    record(_logs(tmp_path)[:1], lock)
    result = check(_logs(tmp_path, change={"worker=prefill-0": "worker=prefill-7f9c"}), lock)
    assert [gap.what for gap in result.not_checked if "new" in gap.why] == ["decode-0"]
    assert result.findings == ()
    small = check(_logs(tmp_path, pool=100, change={"worker=prefill-0": "worker=prefill-7f9c"})[:1], lock)
    (finding,) = small.findings
    assert "compared with prefill-0 of the baseline" in finding.message


def test_a_fact_that_is_no_longer_seen_is_a_gap(tmp_path: Path):
    """A log that begins too late has no pool; the gate does not take that for the pool of the baseline."""
    result = _moved(tmp_path, change={"checks=I1,": "cheques=I1,"})
    assert result.verdict is Verdict.UNKNOWN
    assert {gap.rules for gap in result.not_checked} == {("checks-below-baseline",)}


def test_the_incident_is_caught_by_the_gate(tmp_path: Path):
    """A prefill worker that starts with a quarter of its pool fails the release."""
    lock, before = tmp_path / "kvfence.lock", tmp_path / "before.log"
    before.write_text(PREFILL.read_text().replace("max_total_num_tokens=128", "max_total_num_tokens=600"))
    record([before, DECODE], lock)
    result = check([PREFILL, DECODE], lock)
    assert _rules(result) == {"pool-below-baseline"}
    for form in AuditFormat:
        assert "pool" in written(result, form)


def test_the_lock_file_is_sorted_one_fact_a_line_and_without_places(tmp_path: Path):
    """It reads in a diff, holds schema and version, and neither a host nor where a fact was read."""
    lock = tmp_path / "kvfence.lock"
    record([PREFILL, DECODE], lock)
    table = tomllib.loads(lock.read_text())
    assert table["schema"] == 1
    assert list(table["nodes"]) == sorted(table["nodes"])
    for facts in table["nodes"].values():
        assert list(facts) == sorted(facts)
        assert not facts.keys() & NOT_LOCKED
    assert ".log" not in lock.read_text()


def test_writing_again_changes_nothing(tmp_path: Path):
    """The same deployment gives the same bytes, and says that it did."""
    lock = tmp_path / "kvfence.lock"
    assert record(_logs(tmp_path), lock).changed
    first = lock.read_bytes()
    assert not record(list(reversed(_logs(tmp_path))), lock).changed
    assert lock.read_bytes() == first
    assert sorted(file.name for file in tmp_path.iterdir()) == ["decode.log", "kvfence.lock", "prefill.log"]


def test_nothing_is_recorded_of_nothing(tmp_path: Path):
    """A text that no engine wrote makes no baseline."""
    (tmp_path / "noise.log").write_text("nothing of the kind\n")
    with pytest.raises(TargetError, match="no node was recognised"):
        record([tmp_path / "noise.log"], tmp_path / "kvfence.lock")
    assert not (tmp_path / "kvfence.lock").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "no baseline yet; write it"),
        (b"", "schema None"),
        (b"schema = 2\n", "schema 2"),
        (b"schema = 1\n", "names no node"),
        (b"schema = 1\nnodes = 3\n", "names no node"),
        (b"schema = 1\nnodes = {a = 3}\n", "not a table of facts"),
        (
            b"schema = 1\n[nodes.a]\npool_tokens = 1.5\n",
            "node 'a': pool_tokens is 1.5, and must be text",
        ),
        (b"schema = 1\n[nodes.a]\npool_tokens = {}\n", "pool_tokens is {}, and must be"),
        (b"schema = 1\n[nodes.a]\npool_tokens = 'many'\n", "'many', and must be a whole number, 0 or more"),
        (b"schema = 1\n[nodes.a]\npool_tokens = -5\n", "-5, and must be a whole number, 0 or more"),
        (b"schema = 1\n[nodes.a]\npool_tokens = true\n", "True, and must be a whole number"),
        (b"schema = 1\n[nodes.a]\nchecks = 3\n", "checks is 3, and must be text"),
        (b"schema = 1\n[nodes.a]\nkv_canary = 3\n", "kv_canary is 3, and must be true, false or text"),
        (b"schema = 1\n[nodes.a]\npool_tokenz = 5\n", "pool_tokenz is nothing that this kvfence compares; pool_tokens"),
        (b"schema = 1\n[nodes.a]\npool_tokens = 5\n[node.b]\npool_tokens = 5\n", "node is nothing that"),
        (b"schema = [\n", "not TOML"),
        (b"\xff\xfe", "not UTF-8"),
        (b"#" * ((4 << 20) + 1), "over 4 MiB"),
        (b"a = " + b"[" * 100_000, "not TOML"),
    ],
)
def test_a_lock_file_that_is_none_is_one_clear_line(tmp_path: Path, content: bytes | None, told: str):
    """What is wrong with it and what to do, in a line that names the file."""
    lock = tmp_path / "kvfence.lock"
    if content is not None:
        lock.write_bytes(content)
    with pytest.raises(TargetError, match=r"kvfence\.lock") as caught:
        read_lock(lock)
    assert told in str(caught.value)


VALUES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text()
FACTS = st.lists(st.tuples(st.sampled_from(FACT_NAMES), VALUES)).map(
    lambda facts: {name: value for name, value in facts if value is None or wrong_value(name, value) is None}
)


@given(st.dictionaries(st.text(), FACTS, min_size=1))
def test_a_lock_file_says_what_was_written_into_it(tmp_path_factory, nodes: dict[str, dict[str, object]]):
    """Any names and values survive the trip, with the line of each."""
    text = lock_text([Node(name, facts) for name, facts in nodes.items()], "1.0")  # type: ignore[arg-type]  # as drawn
    path = tmp_path_factory.getbasetemp() / "any.lock"
    path.write_text(text, encoding="utf-8", newline="\n")
    lock = read_lock(path)
    lines = text.split("\n")
    for node in lock.nodes:
        known = {
            name: value for name, value in nodes[node.name].items() if value is not None and name not in NOT_LOCKED
        }
        assert dict(node.facts) == known
        assert {name: lines[line - 1].partition(" = ")[0] for name, line in node.lines.items()} == {n: n for n in known}
    assert {node.name for node in lock.nodes} == nodes.keys()


@given(st.sampled_from(Wrong), st.none() | st.booleans() | st.integers() | st.text(), st.floats(0, 0.99))
def test_what_stays_never_moved_the_wrong_way(wrong: Wrong, value: str | int | bool | None, tolerance: float):
    """Whatever the direction and the tolerance, equal values pass."""
    if not (isinstance(value, int) and value < 0):
        assert not moved_wrong(wrong, value, value, tolerance)


def test_every_watched_fact_is_a_fact_and_every_rule_watches_one():
    """The table names nothing that does not exist, and no rule that cannot fire."""
    assert {watched.fact for watched in WATCHED} <= set(FACT_NAMES)
    assert set(FACT_NAMES) >= NOT_LOCKED
    assert {watched.rule for watched in WATCHED} == set(GATE_RULES)
