"""Nodes made by hand, for rules: each fact with a place of its own."""

from __future__ import annotations

from collections.abc import Sequence

from kvfence.audit.inspection import judged
from kvfence.facts.fact import Fact, Happening, Kind, NodeFacts
from kvfence.findings.deployment import AuditResult, NotChecked
from kvfence.findings.finding import Evidence, Finding

Value = str | int | bool | None


def node(name: str, /, *, happened: Sequence[Kind] = (), superseded: bool = False, **facts: Value) -> NodeFacts:
    """A node of these facts; None leaves one out. What happened, happened once."""
    known = {fact: value for fact, value in facts.items() if value is not None}
    return NodeFacts(
        name=name,
        facts={fact: Fact(value, _seen(name, fact, value)) for fact, value in known.items()},
        happenings={
            kind: Happening(kind=kind, count=1, asked_tokens_max=None, seen=(_seen(name, kind, ""),))
            for kind in happened
        },
        superseded=superseded,
    )


def sglang(role: str, /, name: str = "", **facts: Value) -> NodeFacts:
    """A worker of SGLang 0.5.23 that nothing is wrong with; `facts` are put over it."""
    pool, context = facts.get("pool_tokens", 2_097_152), facts.get("context_length", 1_048_576)
    limit = min(pool, context) - 6 if isinstance(pool, int) and isinstance(context, int) else None
    healthy: dict[str, Value] = {
        "engine": "sglang",
        "engine_version": "0.5.23",
        "role": role,
        "pool_tokens": pool,
        "context_length": context,
        "max_req_input_len": limit,
        "usable_length": limit - 1 if limit else None,
        "page_size": 64,
        "kv_dtype": "bfloat16",
        "tp_size": 8,
        "kv_canary": "none",
        "kv_checksum": True,
        "checks": "kv-checksum",
        "allow_auto_truncate": False,
        "model": "/models/m",
        "attention_backend": "fa3",
        "device": "cuda",
    }
    return node(name or role, **{**healthy, **facts})


def vllm(role: str, /, name: str = "", **facts: Value) -> NodeFacts:
    """A worker of vLLM 0.32.0 that nothing is wrong with; `facts` are put over it."""
    healthy: dict[str, Value] = {
        "engine": "vllm",
        "engine_version": "0.32.0",
        "role": role,
        "pool_tokens": 524_288,
        "context_length": 131_072,
        "page_size": 128,
        "kv_dtype": "bfloat16",
        "tp_size": 1,
        "model": "/models/m",
        "transfer_backend": "MooncakeConnector",
    }
    return node(name or role, **{**healthy, **facts})


def cell(role: str, /, name: str = "", **facts: Value) -> NodeFacts:
    """A worker of kvfence's cell under the fence; `facts` are put over it."""
    healthy: dict[str, Value] = {
        "engine": "kvfence-cell",
        "engine_version": "0.1.0",
        "role": role,
        "pool_tokens": 4096,
        "context_length": 1536,
        "usable_length": 1536,
        "page_size": 16,
        "kv_dtype": "float32",
        "tp_size": 1,
        "checks": "I1,I2-count,I2-digest,I3,I4,I5",
        "rules": "fenced",
    }
    return node(name or role, **{**healthy, **facts})


def said_of(rule: str, *nodes: NodeFacts) -> list[Finding]:
    """What that rule finds."""
    return [finding for finding in audit_of(*nodes).findings if finding.rule == rule]


def missed_by(rule: str, *nodes: NodeFacts) -> list[NotChecked]:
    """What that rule could not be asked."""
    return [gap for gap in audit_of(*nodes).not_checked if rule in gap.rules]


def audit_of(*nodes: NodeFacts) -> AuditResult:
    """All rules on these nodes."""
    return judged(nodes, ())


def _seen(name: str, fact: str, value: Value) -> Evidence:
    return Evidence(file=f"{name}.log", line=1, text=f"{fact}={value}")
