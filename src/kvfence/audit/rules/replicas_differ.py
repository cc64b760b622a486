"""Workers that ought to be alike are not.

## What it says

Nodes of one role, engine and model differ: in their pools by more than 2 %, or in version, context, or a setting that
decides what they hold or check. The finding names the values, which nodes have them, and what else differs.

## Why it matters

A router sends a request to any of them. What is measured on one is then not so on the next: a prompt that fits one is
refused by another, a check is on for some requests only. The node with the smallest pool decides what can be promised.
What else differs stands beside it, since that is mostly the cause.

## How bad

Medium where the pool, the context, the version, a check or truncation differs on half of a pair; low for anything else,
and for servers that do both roles. The 2 % is the gate's tolerance, no measurement.

## What ends it

The same image and command on every replica, and the same card; or a router that knows them apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from kvfence.audit.deployment import Deployment, engine_of, grouped, is_disaggregated, role_of
from kvfence.facts.fact import Engine, NodeFacts, Role
from kvfence.facts.kv_type import one_name
from kvfence.findings.finding import Confidence, Finding, Severity
from kvfence.findings.listed import listed
from kvfence.findings.redact import as_evidence

ID = "replicas-differ"
CODE = "KVF605"
_TOLERANCE_PERCENT = 2
_NAMES = {
    "pool_tokens": "pool",
    "context_length": "context",
    "engine_version": "version",
    "kv_checksum": "KV checksum",
    "kv_canary": "KV canary",
    "checks": "checks",
    "allow_auto_truncate": "auto-truncate",
    "rules": "rules",
    "page_size": "page size",
    "kv_dtype": "KV type",
    "tp_size": "TP width",
    "dp_size": "DP width",
    "pp_size": "PP stages",
    "pool_cap_tokens": "pool cap",
    "mem_fraction": "memory fraction",
    "quantization": "quantization",
    "attention_backend": "attention backend",
    "transfer_backend": "transfer backend",
    "cuda_graph": "CUDA graphs",
    "hicache": "hierarchical cache",
    "draft_model": "draft model",
}
"""What is compared, in the order in which it is told."""
_DECIDES = {"pool_tokens", "context_length", "engine_version", "kv_checksum", "kv_canary", "checks", "rules"} | {
    "allow_auto_truncate"
}
_SAID_BY_OTHERS = {"checks"}
"""Follows from facts that are compared by themselves where an engine has them."""
_NODES_NAMED_MAX = 4


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each group of replicas that differ."""
    groups: dict[tuple[Role, Engine | None, str | None], list[NodeFacts]] = defaultdict(list)
    for node in deployment.nodes:
        role = role_of(node)
        if role is not None and not node.superseded and not node.planned:
            groups[role, engine_of(node), node.text("model")].append(node)
    for nodes in groups.values():
        differing = [name for name in _NAMES if _differs(name, nodes)]
        if set(differing) & _SAID_BY_OTHERS and {"kv_checksum", "kv_canary"} & set(differing):
            differing = [name for name in differing if name not in _SAID_BY_OTHERS]
        if differing:
            yield _finding(nodes, differing)


def _differs(name: str, nodes: Sequence[NodeFacts]) -> bool:
    values = [fact.value for node in nodes if (fact := node.fact(name))]
    if name == "pool_tokens":
        counts = [int(value) for value in values]
        return bool(counts) and 100 * (max(counts) - min(counts)) > _TOLERANCE_PERCENT * max(counts)
    return len({one_name(str(value)) for value in values}) > 1


def _finding(nodes: Sequence[NodeFacts], differing: Sequence[str]) -> Finding:
    odd = _odd_one(nodes, differing[0])
    told = "; ".join(_told(name, nodes) for name in differing)
    of_what = "of one model" if odd.fact("model") else "whose model is not told, so that they may not be replicas,"
    decides = bool(set(differing) & _DECIDES) and is_disaggregated(odd)
    return Finding(
        rule=ID,
        severity=Severity.MEDIUM if decides else Severity.LOW,
        confidence=Confidence.HIGH if odd.fact("model") else Confidence.LOW,
        node=odd.name,
        message=f"{len(nodes)} {odd.text('role')} nodes {of_what} are not alike: {told}.",
        evidence=tuple(
            dict.fromkeys(
                place
                for node in (odd, *(node for node in nodes if node is not odd))
                for place in node.evidence(*differing)
            )
        ),
        fix=f"Start them from one image with one command on the same card; look first at "
        f"{', '.join(_NAMES[name] for name in differing)}.",
    )


def _odd_one(nodes: Sequence[NodeFacts], name: str) -> NodeFacts:
    """The node with the smallest pool; else the one whose value the fewest share."""
    known = [node for node in nodes if node.fact(name)]
    if name in {"pool_tokens", "context_length"}:
        return min(known, key=lambda node: node.number(name) or 0)
    shared = Counter(str(node.facts[name].value) for node in known)
    return min(known, key=lambda node: shared[str(node.facts[name].value)])


def _told(name: str, nodes: Sequence[NodeFacts]) -> str:
    by_value: dict[str, list[str]] = {}
    for node in nodes:
        fact = node.fact(name)
        if fact:
            by_value.setdefault(_shown(fact.value), []).append(node.name)
    values = ", ".join(f"{value} ({listed(names, _NODES_NAMED_MAX)})" for value, names in sorted(by_value.items()))
    return f"{_NAMES[name]} {values}"


def _shown(value: str | int | bool) -> str:  # noqa: FBT001 — a fact's value, not a switch
    match value:
        case True:
            return "on"
        case False:
            return "off"
        case int():
            return grouped(value)
        case _:
            return as_evidence(value)
