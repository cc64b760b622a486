"""Checks that are on and leave no sign: what a log, a counter or a version can show, and what nothing can."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.audit import inspect
from kvfence.facts.fact import NodeFacts
from kvfence.findings.finding import Confidence, Severity
from kvfence.findings.verdict import Verdict
from support.audit_logs import HEADLINE, INCIDENT, audited
from support.audit_nodes import Value, cell, missed_by, said_of, sglang
from support.endpoint_servers import engine

RULE = "check-not-running"
ARGS = "[2026-04-05 10:00:00] server_args=ServerArgs(disaggregation_mode='decode', page_size=1, kv_canary='{mode}')"
INSTALLED = "[2026-04-05 10:00:02 TP0] install_canary: disaggregation_mode=decode config=CanaryConfig(mode=log)"
POOL = HEADLINE.format(rank=" TP0", pool=2048, context=512)
STEP = "[2026-04-05 10:01:00 TP0] [canary] step=100 protected_tokens={tokens} violations=0"
VIOLATION = "[2026-04-05 10:01:00 TP0] kv_canary violation: launch_tag=x fail_reason=verify_position slot_idx=1"


@pytest.mark.parametrize(
    ("lines", "found", "decisive"),
    [
        ((ARGS.format(mode="log"), POOL), ["without a line that installs it"], []),
        ((ARGS.format(mode="none"), POOL), [], []),
        ((ARGS.format(mode="log"), INSTALLED, POOL), [], [False]),
        ((ARGS.format(mode="log"), INSTALLED, POOL, STEP.format(tokens=77)), [], []),
        ((ARGS.format(mode="log"), INSTALLED, POOL, STEP.format(tokens=0)), ["has protected no token"], []),
        ((ARGS.format(mode="log"), POOL, STEP.format(tokens=77)), [], []),
        ((ARGS.format(mode="log"), POOL, VIOLATION), [], []),
        ((ARGS.format(mode="log"),), [], [True]),
        ((ARGS.format(mode="log"), INSTALLED), [], [False]),
    ],
)
def test_a_canary_is_believed_by_what_its_log_shows(
    tmp_path: Path, lines: tuple[str, ...], found: list[str], decisive: list[bool]
):
    """On, and past its pool without the line that every version prints: found. Not yet past it: inconclusive."""
    result = audited(tmp_path, "\n".join(lines))
    said = [finding.message for finding in result.findings if finding.rule == RULE]
    assert len(said) == len(found)
    assert all(part in message for part, message in zip(found, said, strict=True))
    assert [gap.decisive for gap in result.not_checked if RULE in gap.rules] == decisive


def test_the_finding_names_the_setting_and_the_line_that_the_log_went_on_to(tmp_path: Path):
    """Evidence is the switch and the headline, each with its line; a filtered log looks the same, so it is medium."""
    result = audited(tmp_path, f"{ARGS.format(mode='raise')}\n{POOL}")
    (finding,) = [finding for finding in result.findings if finding.rule == RULE]
    assert [seen.line for seen in finding.evidence] == [1, 2]
    assert "kv_canary='raise'" in finding.evidence[0].text
    assert (finding.severity, finding.confidence) == (Severity.HIGH, Confidence.MEDIUM)


@pytest.mark.parametrize("role", ["prefill", "decode", "aggregated"])
def test_a_real_log_whose_canary_is_off_says_nothing_of_it(role: str):
    """The incident's own logs have the setting, off: no finding and no gap."""
    result = inspect([INCIDENT / f"sglang-0.5.19-{role}.log"])
    assert RULE not in {finding.rule for finding in result.findings}
    assert not any(RULE in gap.rules for gap in result.not_checked)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, [("KV checksum", False)]),
        ({"kv_checksum": False}, []),
        ({"checksum_compared": True}, []),
        ({"kv_canary": "log"}, [("KV checksum", False), ("KV canary", True)]),
        ({"kv_canary": "log", "canary_installed": True}, [("KV checksum", False), ("KV canary", False)]),
        ({"kv_canary": "log", "canary_installed": True, "canary_ran": True}, [("KV checksum", False)]),
        (
            {"kv_canary": "log", "canary_installed": False, "engine_version": "0.6.0"},
            [("KV checksum", False), ("KV canary", True)],
        ),
    ],
)
def test_what_leaves_no_sign_is_told_and_decides_where_a_log_would_show_it(
    facts: dict[str, Value], told: list[tuple[str, bool]]
):
    """No line says "verified" of the checksum in any version; the canary's line is in its log."""
    gaps = missed_by(RULE, sglang("decode", **facts))
    assert [("KV checksum" if "checksum" in gap.why else "KV canary", gap.decisive) for gap in gaps] == told
    assert missed_by(RULE, sglang("unified", **facts)) == []


def test_a_version_that_nobody_has_read_is_not_accused():
    """Whether a later version prints the line is not known: a gap, and no finding."""
    unread = sglang("decode", kv_canary="log", canary_installed=False, engine_version="0.6.0")
    assert said_of(RULE, unread) == []
    read = sglang("decode", kv_canary="log", canary_installed=False)
    assert [finding.node for finding in said_of(RULE, read)] == ["decode"]


@pytest.mark.parametrize(
    ("worker", "found"),
    [
        (cell("decode", handoffs_checked=0), 1),
        (cell("decode", handoffs_checked=7), 0),
        (cell("decode", handoffs_checked=0, checks="I1,I5"), 0),
        (cell("decode"), 0),
    ],
)
def test_a_cell_that_made_tokens_and_verified_nothing_is_found(worker: NodeFacts, found: int):
    """Its counter is the positive record that SGLang does not have."""
    assert len(said_of(RULE, worker)) == found


def _worker_line(role: str) -> str:
    return (
        f'kvfence_worker_info{{worker="{role}-0",role="{role}",engine_version="0.1.0",rules="fenced",'
        'pool_tokens="2048",context_length="1024",page_size="16",usable_tokens="1024",'
        'checks="I1,I2-count,I2-digest,I3,I4,I5"} 1.0'
    )


@pytest.mark.parametrize(
    ("counters", "verdict"),
    [
        ((), Verdict.CLEAN),
        (('kvfence_tokens_decoded_total{worker="decode-0"} 12.0',), Verdict.FOUND),
        (
            (
                'kvfence_tokens_decoded_total{worker="decode-0"} 12.0',
                'kvfence_handoffs_verified_total{worker="decode-0",checks="I2-count"} 3.0',
            ),
            Verdict.CLEAN,
        ),
        (('kvfence_checks_failed_total{worker="decode-0",check="I2-digest"} 1.0',), Verdict.FOUND),
    ],
)
def test_a_cell_is_judged_by_its_counters(counters: tuple[str, ...], verdict: Verdict):
    """Asked over a real socket: tokens without a verified handoff, or a failed check, are found."""
    metrics = "\n".join((_worker_line("prefill"), _worker_line("decode"), *counters)) + "\n"
    with engine({"/metrics": metrics.encode()}) as server:
        assert inspect([server.url]).verdict is verdict
