"""Each rule: a hit, a miss, a near miss."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.findings.deployment import AuditResult
from kvfence.findings.finding import Finding, Severity
from support.audit_logs import CELL_START, HEADLINE, audited


def _server(
    role: str,
    *,
    pool: int = 512,
    context: int = 512,
    truncate: bool = False,
    checksum: bool | None = None,
    model: str = "/m",
    more: str = "",
) -> str:
    """A log of SGLang: 0.5.20 or older without `checksum`, 0.5.21 or later with it."""
    pairs: dict[str, object] = {
        "model_path": model,
        "context_length": context,
        "page_size": 1,
        "tp_size": 1,
        "enable_dp_attention": False,
        "allow_auto_truncate": truncate,
        "disaggregation_mode": role,
        "kv_canary": "none",
    }
    if checksum is not None:
        pairs["disaggregation_enable_kv_checksum"] = checksum
    lines = [f"[2026-12-01 13:18:11] server_args={pairs}", HEADLINE.format(rank="", pool=pool, context=context)]
    return "\n".join([*lines, *(f"[2026-12-01 13:18:12] {line}" for line in more.splitlines())])


def _cell(role: str, rules: str, pool: int, checks: str) -> str:
    return CELL_START.format(role=role, rules=rules, pool=pool, checks=checks)


REFUSED = "Input length (140 tokens) exceeds the maximum allowed length (122 tokens). Use a shorter input, self.rid='x'"
STUB = "Prefill batch, #new-seq: 1, #new-token: 1, #cached-token: 0, token usage: 0.01, #inflight-req: 1, x: 0"
TRUNCATED = (
    "Request length is longer than the KV cache pool size or the max context length. Truncated. "
    "len(req.origin_input_ids)=225, max_req_input_len=122."
)


def _of(result: AuditResult, rule: str) -> list[Finding]:
    return [finding for finding in result.findings if finding.rule == rule]


def _severities(result: AuditResult, rule: str) -> list[Severity]:
    return [finding.severity for finding in _of(result, rule)]


@pytest.mark.parametrize(
    ("log", "severity"),
    [
        (_server("prefill", pool=128), Severity.CRITICAL),
        (_server("prefill", pool=128, checksum=True), Severity.MEDIUM),
        (_server("decode", pool=128), Severity.MEDIUM),
        (_server("null", pool=128), Severity.LOW),
        (HEADLINE.format(rank="", pool=128, context=512), Severity.HIGH),
        (_cell("prefill", "placeholder", 1008, "none"), Severity.CRITICAL),
        (_cell("prefill", "x", 1008, "I2-digest,I3"), Severity.MEDIUM),
        (_cell("prefill", "fenced", 1008, "I1,I2-count,I2-digest,I3,I4,I5"), Severity.LOW),
    ],
    ids=[
        "prefill-old",
        "prefill-new",
        "decode",
        "unified",
        "unknown",
        "cell",
        "cell-with-a-later-layer",
        "cell-fenced",
    ],
)
def test_a_pool_below_the_context_is_found_as_bad_as_its_role_makes_it(tmp_path: Path, log: str, severity: Severity):
    """The same gap is critical on an old prefill worker and low on one server for both."""
    assert _severities(audited(tmp_path, log), "pool-below-context") == [severity]


@pytest.mark.parametrize("pool", [512, 513, 2**20])
def test_a_pool_that_holds_its_context_is_not_found(tmp_path: Path, pool: int):
    """A pool of exactly the context, or above it, is no finding; one token less is."""
    assert _of(audited(tmp_path, _server("null", pool=pool)), "pool-below-context") == []
    assert _of(audited(tmp_path, _server("null", pool=511)), "pool-below-context")


def test_the_gap_is_told_in_figures(tmp_path: Path):
    """The finding says by how much, which lengths reach the refusal, and what to set."""
    log = _server("prefill", pool=681_280, context=1_048_576)
    (finding,) = _of(audited(tmp_path, log), "pool-below-context")
    assert "681,280 tokens, 367,296 (35 %) fewer than the 1,048,576" in finding.message
    assert "681,274 to 1,048,575 tokens reach the refusal" in finding.message
    assert "--context-length 681280 on every node of the path (prompts of up to 681,273 tokens" in finding.fix
    assert "at least 1,048,576 tokens" in finding.fix
    assert finding.evidence[0].text.endswith("available_gpu_mem=17.22 GB")


def test_unequal_limits_leak_exactly_the_lengths_in_between(tmp_path: Path):
    """Prefill refusing from 122 and decode from 506 gives 122 to 505, with evidence of both."""
    result = audited(tmp_path, _server("prefill", pool=128), _server("decode"))
    (finding,) = _of(result, "asymmetric-pools")
    assert finding.severity is Severity.CRITICAL
    assert "Prompts of 122 to 505 tokens" in finding.message
    assert {Path(seen.file).name for seen in finding.evidence} == {"node0.log", "node1.log"}
    assert "--context-length 128" in finding.fix


@pytest.mark.parametrize(
    ("prefill", "decode", "severities"),
    [
        (_server("prefill"), _server("decode"), []),
        (_server("prefill"), _server("decode", pool=128), []),
        (_server("prefill", pool=128), _server("decode", model="/other"), []),
        (_server("prefill", pool=128), _cell("decode", "placeholder", 1536, "none"), []),
        (_server("prefill", pool=128, checksum=False), _server("decode", checksum=False), [Severity.MEDIUM]),
        (
            _server("prefill", pool=128, checksum=False, truncate=True),
            _server("decode", checksum=False),
            [Severity.CRITICAL],
        ),
        (
            _cell("prefill", "placeholder", 1008, "none"),
            _cell("decode", "placeholder", 1536, "none"),
            [Severity.CRITICAL],
        ),
        (_cell("prefill", "x", 1008, "I5"), _cell("decode", "x", 1536, "I5"), [Severity.MEDIUM]),
        (_cell("prefill", "fenced", 1008, "I1"), _cell("decode", "fenced", 1536, "I1"), []),
    ],
    ids=[
        "equal",
        "decode-smaller",
        "other-model",
        "other-engine",
        "fixed",
        "fixed-but-truncating",
        "cell",
        "cell-with-a-later-layer",
        "cell-fenced",
    ],
)
def test_limits_are_compared_within_a_pair(tmp_path: Path, prefill: str, decode: str, severities: list[Severity]):
    """Only a prefill below its own decode is found, and as bad as the version and its settings make it."""
    assert _severities(audited(tmp_path, prefill, decode), "asymmetric-pools") == severities


@pytest.mark.parametrize(
    ("log", "found"),
    [
        (_server("prefill"), True),
        (_server("decode", checksum=False), True),
        (_server("decode", checksum=True), False),
        (_server("null"), False),
        (_cell("prefill", "placeholder", 1536, "none"), True),
        (_cell("prefill", "x", 1536, "I1,I3"), True),
        (_cell("prefill", "fenced", 1536, "I1,I2-digest"), False),
    ],
)
def test_checks_off_are_found_on_half_of_a_pair(tmp_path: Path, log: str, found: bool):
    """A worker of a pair without any content check is found; one server for both is not."""
    assert bool(_of(audited(tmp_path, log), "checks-off")) == found


@pytest.mark.parametrize(
    ("log", "severities"),
    [
        (_server("prefill", pool=128, more=f"{REFUSED}\n{STUB}"), [Severity.CRITICAL]),
        (_server("prefill", pool=128, more=REFUSED), [Severity.HIGH]),
        (_server("prefill", pool=128, checksum=False, more=REFUSED), [Severity.MEDIUM]),
        (_server("null", pool=128, more=f"{REFUSED}\n{STUB.replace(', #inflight-req: 1', '')}"), [Severity.LOW]),
        (_server("prefill", pool=128, more=STUB), []),
        (
            _cell("prefill", "placeholder", 1008, "none")
            + "\nkvfence cell refused: worker=prefill-0 room=7 prompt_tokens=1200 usable_tokens=1008",
            [Severity.CRITICAL],
        ),
        (
            _cell("prefill", "fenced", 1008, "I1,I2-count")
            + "\nkvfence cell refused: worker=router-0 room=7 prompt_tokens=1200 usable_tokens=1008",
            [],
        ),
    ],
    ids=["placeholder", "old", "new", "unified", "no-refusal", "cell-placeholder", "cell-fenced"],
)
def test_refusals_are_found_as_bad_as_what_follows_them(tmp_path: Path, log: str, severities: list[Severity]):
    """A refusal that ran on as a placeholder on prefill is critical; a typed refusal is no finding."""
    assert _severities(audited(tmp_path, log), "refused-prompts-seen") == severities


@pytest.mark.parametrize(
    ("logs", "severities"),
    [
        ((_server("prefill", truncate=True),), [Severity.HIGH]),
        (
            (_server("prefill", pool=128, truncate=True), _server("decode", truncate=True)),
            [Severity.CRITICAL, Severity.CRITICAL],
        ),
        ((_server("prefill", more=TRUNCATED),), [Severity.CRITICAL]),
        ((_server("null", truncate=True),), []),
        ((_server("prefill"),), []),
    ],
)
def test_truncation_is_found_on_half_of_a_pair(tmp_path: Path, logs: tuple[str, ...], severities: list[Severity]):
    """A worker of a pair that truncates is found, worse where it has done so or its peer's limit differs."""
    assert _severities(audited(tmp_path, *logs), "auto-truncate-on") == severities


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("KV checksum skipped: prefill layout signature 0x1 differs from this decode's 0x2", "check-not-running"),
        ("KV checksum mismatch req=1 bootstrap_room=2 expected=0x1 got=0x2", "check-failed"),
        ("Deferred KV release for room 7 timed out after 30s without a full drain ack", "deferred-release-timeout"),
    ],
)
def test_run_time_markers_are_found(tmp_path: Path, line: str, rule: str):
    """Each marker gives its own finding, and a log without it none."""
    (finding,) = _of(audited(tmp_path, _server("decode", more=f"{line}\n{line}")), rule)
    assert "2 times" in finding.message
    assert _of(audited(tmp_path, _server("decode")), rule) == []


def test_blocks_read_after_their_lease_are_found(tmp_path: Path):
    """VLLM's line on blocks that a decode worker read too late is critical."""
    line = "ERROR 08-20 12:00:00 [nixl.py:1] Potentially invalid KV blocks for unrecognized request x were retrieved"
    assert _severities(audited(tmp_path, line), "expired-blocks-read") == [Severity.CRITICAL]


def test_a_vllm_that_does_not_start_says_so(tmp_path: Path):
    """A pool that vLLM refuses to start with is low, and no length is said to reach a refusal."""
    line = (
        "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored "
        "in KV cache (3664)."
    )
    (finding,) = _of(audited(tmp_path, line), "pool-below-context")
    assert finding.severity is Severity.LOW
    assert "refuses to start" in finding.message
    assert "--max-model-len 3632" in finding.fix  # 229 blocks of 16, of which V0 keeps two free
