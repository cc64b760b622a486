"""What differs between workers that ought to agree, what only just fits, and silence where all is well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kvfence.facts.fact import NodeFacts
from kvfence.findings.finding import Confidence, Severity
from kvfence.findings.verdict import Verdict
from support.audit_logs import HEADLINE, audited
from support.audit_nodes import Value, audit_of, cell, node, said_of, sglang, vllm

CONTEXT = 1_048_576
HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW


@pytest.mark.parametrize("engine", [sglang, vllm, cell])
def test_all_rules_together_say_nothing_of_a_healthy_pair(engine: Callable[..., NodeFacts]):
    """Two prefill and two decode workers of each engine, alike and with room: no finding, and nothing decisive left."""
    result = audit_of(*(engine(role, f"{role}-{index}") for role in ("prefill", "decode") for index in range(2)))
    assert result.findings == ()
    assert result.verdict is Verdict.CLEAN


@pytest.mark.parametrize(
    ("worker", "severities"),
    [
        (sglang("prefill", pool_tokens=CONTEXT - 1), []),
        (sglang("prefill", pool_tokens=CONTEXT), [LOW]),
        (sglang("prefill", pool_tokens=CONTEXT, engine_version="0.5.19"), [MEDIUM]),
        (sglang("prefill", pool_tokens=CONTEXT, engine_version="0.5.20"), [LOW]),
        (sglang("prefill", pool_tokens=CONTEXT, engine_version=None), [MEDIUM]),
        (sglang("decode", pool_tokens=CONTEXT, engine_version="0.5.20"), [LOW]),
        (sglang("decode", pool_tokens=2_034_237), [LOW]),
        (sglang("decode", pool_tokens=2_034_238), []),
        (sglang("decode", pool_tokens=2_040_000), []),
        (sglang("unified", pool_tokens=CONTEXT), []),
        (vllm("prefill", pool_tokens=200_000), [LOW]),
        (cell("prefill", pool_tokens=1536), []),
        (node("a", pool_tokens=CONTEXT, context_length=CONTEXT), []),
        (sglang("prefill", pool_tokens=CONTEXT, superseded=True), []),
    ],
)
def test_a_pool_that_only_just_holds_its_context_is_found(worker: NodeFacts, severities: list[Severity]):
    """From the context to about twice of it, on half of a pair; never beside pool-below-context."""
    found = said_of("headroom-below-factor", worker)
    assert [one.severity for one in found] == severities
    assert not (found and said_of("pool-below-context", worker))


def test_headroom_is_told_in_figures():
    """The ratio, and what would do."""
    (found,) = said_of("headroom-below-factor", sglang("decode", pool_tokens=1_572_864))
    assert "1,572,864 tokens, 1.50 times the 1,048,576" in found.message
    assert "about 2,097,152 tokens" in found.fix
    assert "--context-length 786432" in found.fix


@pytest.mark.parametrize(
    ("prefill", "decode", "severities"),
    [
        ({}, {}, []),
        ({}, {"pool_tokens": 900_000}, [LOW]),
        ({}, {"pool_tokens": 900_000, "engine_version": "0.5.20"}, [MEDIUM]),
        ({}, {"pool_tokens": 900_000, "allow_auto_truncate": True}, [MEDIUM]),
        ({"pool_tokens": 900_000}, {}, []),
        ({"pool_tokens": 900_000}, {"pool_tokens": 900_000, "context_length": 2**21}, [LOW]),
        ({}, {"pool_tokens": 900_000, "model": "/models/other"}, []),
        ({"pool_tokens": None}, {"context_length": 500_000}, [LOW]),
    ],
)
def test_limits_that_differ_the_other_way_are_found(
    prefill: dict[str, Value], decode: dict[str, Value], severities: list[Severity]
):
    """Decode below prefill, or contexts that differ; prefill below decode is left to asymmetric-pools."""
    pair = sglang("prefill", **prefill), sglang("decode", **decode)
    found = said_of("different-limits", *pair)
    assert [one.severity for one in found] == severities
    assert not (found and said_of("asymmetric-pools", *pair))


def test_limits_that_differ_are_told_in_figures():
    """Where decode refuses and where prefill does, and that truncation makes it worse."""
    pair = sglang("prefill"), sglang("decode", pool_tokens=900_000, allow_auto_truncate=True)
    (found,) = said_of("different-limits", *pair)
    assert found.node == "decode"
    assert "from 899,994 tokens on, prefill (prefill) only from 1,048,570" in found.message
    assert "cuts to its own limit" in found.message
    assert "remove --allow-auto-truncate" in found.fix


def test_a_decode_log_with_less_room_than_its_prefill_is_found(tmp_path: Path):
    """The same from two logs, with evidence of both."""
    settings = "[2026-12-01 13:18:11] server_args={'disaggregation_mode': '%s', 'enable_dp_attention': False}"
    logs = [
        "\n".join([settings % role, HEADLINE.format(rank="", pool=pool, context=512)])
        for role, pool in (("prefill", 2048), ("decode", 256))
    ]
    (found,) = [one for one in audited(tmp_path, *logs).findings if one.rule == "different-limits"]
    assert "from 250 tokens on" in found.message
    assert {Path(seen.file).name for seen in found.evidence} == {"node0.log", "node1.log"}


@pytest.mark.parametrize(
    ("prefill", "decode", "severities"),
    [
        ({}, {}, []),
        ({"page_size": 1}, {}, [HIGH]),
        ({"page_size": 1, "kv_checksum": False}, {"kv_checksum": False}, [MEDIUM]),
        ({"kv_dtype": "fp8_e4m3", "kv_checksum": False}, {"kv_checksum": False}, [MEDIUM]),
        ({"kv_dtype": "bf16"}, {}, []),
        ({"kv_dtype": "float8_e4m3fn"}, {"kv_dtype": "fp8_e4m3"}, []),
        ({"kv_dtype": "auto"}, {}, []),
        ({"tp_size": 4}, {}, [HIGH]),
        ({"tp_size": 4, "kv_checksum": False}, {"kv_checksum": False}, []),
        ({"attention_backend": "flashinfer"}, {}, [LOW]),
        ({"attention_backend": None, "page_size": None}, {}, []),
        ({"page_size": 1}, {"model": "/models/other"}, []),
    ],
)
def test_layouts_that_differ_are_found(prefill: dict[str, Value], decode: dict[str, Value], severities: list[Severity]):
    """As bad as what it breaks; one name for one type; widths only where the checksum needs them equal."""
    found = said_of("layouts-differ", sglang("prefill", **prefill), sglang("decode", **decode))
    assert [one.severity for one in found] == severities


def test_layouts_that_differ_name_both_values():
    """The message has both, and the worst decode worker is the one that is named."""
    decodes = sglang("decode", "d0", attention_backend="triton"), sglang("decode", "d1", page_size=16)
    (found,) = said_of("layouts-differ", sglang("prefill"), *decodes)
    assert "decode (d1)" in found.message
    assert "page size 64 and 16" in found.message
    (unsure,) = said_of("layouts-differ", vllm("prefill", page_size=16), vllm("decode"))
    assert (unsure.severity, unsure.confidence) == (MEDIUM, Confidence.MEDIUM)


@pytest.mark.parametrize(
    ("other", "severities"),
    [
        ({}, []),
        ({"pool_tokens": 2_055_209}, []),
        ({"pool_tokens": 2_055_208}, [MEDIUM]),
        ({"engine_version": "0.5.22"}, [MEDIUM]),
        ({"mem_fraction": "0.8"}, []),
        ({"kv_dtype": "bf16"}, []),
        ({"attention_backend": "triton"}, [LOW]),
        ({"model": "/models/other", "engine_version": "0.5.22"}, []),
        ({"role": "decode", "engine_version": "0.5.22"}, []),
        ({"superseded": True, "engine_version": "0.5.22"}, []),
    ],
)
def test_replicas_that_differ_are_found(other: dict[str, Value], severities: list[Severity]):
    """More than 2 % of the pool, or any setting that both say, among nodes of one role, engine and model."""
    nodes = sglang("prefill", "p0"), sglang("prefill", "p1"), sglang("prefill", "p2", **other)
    assert [one.severity for one in said_of("replicas-differ", *nodes)] == severities


def test_replicas_are_told_with_what_else_differs():
    """The smallest pool is the one that is found, and the quantization stands beside it."""
    nodes = sglang("prefill", "p0"), sglang("prefill", "p1", pool_tokens=1_900_000, kv_dtype="fp8_e5m2")
    (found,) = said_of("replicas-differ", *nodes)
    assert found.node == "p1"
    assert "pool 1,900,000 (p1), 2,097,152 (p0); KV type bfloat16 (p0), fp8_e5m2 (p1)" in found.message


def test_unified_replicas_that_differ_are_low():
    """One server for both has no pair that could leak."""
    nodes = sglang("unified", "u0"), sglang("unified", "u1", pool_tokens=1_500_000)
    assert [one.severity for one in said_of("replicas-differ", *nodes)] == [LOW]


def test_nodes_whose_model_is_not_told_are_not_called_replicas():
    """They may serve different models; it is said, and the confidence is low."""
    (found,) = said_of(
        "replicas-differ", vllm("unified", "v0", model=None), vllm("unified", "v1", model=None, pool_tokens=64)
    )
    assert "of one model" not in found.message
    assert "may not be replicas" in found.message
    assert found.confidence is Confidence.LOW
