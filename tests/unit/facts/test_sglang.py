"""SGLang's lines that the corpus does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.facts.fact import Kind
from kvfence.facts.logs.sglang import read
from support.audit_logs import HEADLINE, only_node, values

OLD_ARGS = (
    "[2026-04-05 10:00:00] server_args=ServerArgs(model_path='/m', json_model_override_args='{{\"page_size\": 9}}', "
    "page_size=64, tp_size=8, dp_size=2, kv_cache_dtype='fp8_e4m3', context_length=None, "
    "disaggregation_mode='{role}', enable_dp_attention=False, api_key='sk-secret-value-123', kv_canary='log')"
)


def test_a_dataclass_dump_is_read(tmp_path: Path):
    """0.5.10's dump gives the settings at its top level, not those inside another setting's text."""
    found = values(only_node(tmp_path, OLD_ARGS.format(role="prefill") + "\n"))
    assert found["page_size"] == 64
    assert (found["role"], found["tp_size"], found["dp_size"]) == ("prefill", 8, 2)
    assert found["kv_dtype"] == "fp8_e4m3"
    assert found["engine_version_max"] == "0.5.18"
    assert found["checks"] == "kv-canary=log"


def test_a_dump_cut_off_within_a_value_does_not_give_it(tmp_path: Path):
    """Of a dump that ends in `page_size=6` the page size is not claimed, and neither is what is missing."""
    cut = OLD_ARGS.format(role="prefill").split("page_size=64")[0] + "page_size=6"
    found = values(only_node(tmp_path, cut))
    assert "page_size" not in found
    assert "checks" not in found
    assert found["model"] == "/m"


def test_no_secret_gets_into_evidence(tmp_path: Path):
    """An API key in a dump or in a launch command is in no evidence."""
    command = "python -m sglang.launch_server --model-path /m --api-key sk-secret-value-123 --page-size 16\n"
    for text in (OLD_ARGS.format(role="null") + "\n", command):
        node = only_node(tmp_path, text)
        assert not [fact for fact in node.facts.values() if "sk-secret-value" in fact.seen.text]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (
            "KV checksum skipped: prefill layout signature 0x1 differs from this decode's 0x2 (TP width)",
            Kind.UNVERIFIED,
        ),
        ("Decode 10.0.0.1 registered 3 metadata buffers but this prefill has 4; only the first 3", Kind.UNVERIFIED),
        ("KV checksum mismatch req=1 bootstrap_room=2 expected=0x1 got=0x2", Kind.CHECK_FAILED),
        ("kv_canary violation: launch_tag=a fail_reason=b slot_idx=1", Kind.CHECK_FAILED),
        ("Context corruption detected: Request 1 (bootstrap_room=2) received metadata from", Kind.CHECK_FAILED),
        ("Deferred KV release for room 7 timed out after 30s without a full drain ack", Kind.RELEASED_UNDRAINED),
        (
            "Request is longer than the KV cache. Truncated. len(req.origin_input_ids)=9, max_req_input_len=8.",
            Kind.TRUNCATED,
        ),
    ],
)
def test_what_happens_at_run_time_is_seen(tmp_path: Path, line: str, kind: Kind):
    """Each marker that SGLang prints while it serves is counted on its node."""
    node = only_node(tmp_path, f"[2026-12-01 10:00:00 TP0] {line}\n")
    assert node.happenings[kind].count == 1


@pytest.mark.parametrize(
    ("lines", "role"),
    [
        ("Radix cache is disabled for decode server", "decode"),
        ("Prefill parallel info for [10.0.0.1:8998]: PrefillServerInfo(attn_tp_size=1)", "decode"),
        ("CommonKVBootstrapServer started successfully on 127.0.0.1:31998", "prefill"),
        ("Prefill successfully registered to bootstrap server.", "prefill"),
        ("Prefill batch, #new-seq: 1, #new-token: 1, #cached-token: 0, x: 0, #inflight-req: 1,", "prefill"),
        ("Radix cache is disabled for decode server\n[2026-12-01 10:00:00] Register prefill bootstrap: DP0", None),
    ],
)
def test_lines_of_one_role_give_the_role(tmp_path: Path, lines: str, role: str | None):
    """Lines that only one role prints give it; lines of both give none."""
    assert only_node(tmp_path, f"[2026-12-01 10:00:00] {lines}\n").text("role") == role


def test_a_pool_that_counts_more_than_once_gives_no_limit(tmp_path: Path):
    """With DP attention the limit is not derived from a pool below the context."""
    attention = OLD_ARGS.format(role="prefill").replace("enable_dp_attention=False", "enable_dp_attention=True")
    headline = HEADLINE.format(rank=" DP0", pool=100, context=512)
    assert "max_req_input_len" not in values(only_node(tmp_path, f"{attention}\n{headline}\n"))
    alone = f"{OLD_ARGS.format(role='prefill')}\n{headline}\n"
    assert values(only_node(tmp_path, alone))["max_req_input_len"] == 94


def test_pools_of_different_size_without_a_headline_give_none(tmp_path: Path):
    """`KV Cache is allocated` for two pools of different size does not say which is the pool."""
    line = "[2026-12-01 10:00:00 TP0] KV Cache is allocated. #tokens: {}, K size: 1.00 GB, V size: 1.00 GB"
    one = only_node(tmp_path, line.format(100) + "\n")
    two = only_node(tmp_path, line.format(100) + "\n" + line.format(90) + "\n")
    assert (one.number("pool_tokens"), two.number("pool_tokens")) == (100, None)


def test_noise_says_nothing():
    """An access line is no statement."""
    assert read('[2026-12-01 10:00:00] INFO:     127.0.0.1:1 - "POST /generate HTTP/1.1" 200 OK') is None
