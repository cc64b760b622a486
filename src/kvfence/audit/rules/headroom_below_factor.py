"""The KV pool of half of a pair holds its context, and little more.

## What it says

The pool holds the context that is promised and less than twice of it. The finding names both figures and their ratio.

## Why it matters

Nobody sets the pool: it is the memory that is left over after weights, graphs and buffers. A change of quantisation,
parallelism, CUDA graphs or of the engine itself moves it by tens of per cent, and below the context begins what the
incident was (pool-below-context). A pool that barely holds one prompt of full length also lets only one of them in at
a time. The provider of the incident settled on about twice the context; that factor is taken from there, and it is no
measurement.

## How bad

Low; medium on a prefill worker of SGLang that is or may be older than 0.5.20, where the next step down is critical.
One server for both roles has no such path, and kvfence's cell refuses by type: neither is found.

## What ends it

More pool, or a shorter promise; and a measurement at every start: `kvfence gate` fails when the pool has shrunk.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import (
    Deployment,
    engine_of,
    grouped,
    holds_tokens,
    is_disaggregated,
    refuses_like_sglang,
    role_of,
    version_below,
)
from kvfence.audit.promise import setting
from kvfence.facts.fact import Engine, NodeFacts, Role
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "headroom-below-factor"
CODE = "KVF104"
HEADROOM_FACTOR = 2
"""Pool over context: about what the incident's provider went to (2.04 million tokens for 1,048,576)."""
_SLACK_PERCENT = 3
"""`About`: 2.04 million is 1.95 times that context, and is not found."""
_NOTHING_SENT_SINCE = "0.5.20"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each half of a pair whose pool is between its context and about twice of it."""
    for node in deployment.nodes:
        held, context = holds_tokens(node), node.number("context_length")
        if node.superseded or not is_disaggregated(node) or engine_of(node) is Engine.CELL:
            continue
        if node.fact("pool_tokens") is None or held is None or context is None:
            continue
        if context <= held and 100 * held < (100 - _SLACK_PERCENT) * HEADROOM_FACTOR * context:
            yield _finding(node, held, context)


def _finding(node: NodeFacts, held: int, context: int) -> Finding:
    engine = engine_of(node)
    return Finding(
        rule=ID,
        severity=_severity(node),
        confidence=Confidence.HIGH if engine is Engine.SGLANG else Confidence.MEDIUM,
        node=node.name,
        message=f"The KV pool holds {grouped(held)} tokens, {held / context:.2f} times the {grouped(context)} of the "
        "context. A change of quantisation, parallelism or CUDA graphs can take it below.",
        evidence=node.evidence("pool_tokens", "context_length"),
        fix=f"Give the pool about {grouped(HEADROOM_FACTOR * context)} tokens ({_more(node, context)}), or promise "
        f"{setting(held // HEADROOM_FACTOR, node)}; and hold the pool with `kvfence gate`.",
    )


def _severity(node: NodeFacts) -> Severity:
    next_is_critical = (
        role_of(node) is Role.PREFILL
        and refuses_like_sglang(node)
        and version_below(node, _NOTHING_SENT_SINCE) is not False
    )
    return Severity.MEDIUM if next_is_critical else Severity.LOW


def _more(node: NodeFacts, context: int) -> str:
    cap = node.number("pool_cap_tokens")
    if engine_of(node) is not Engine.SGLANG:
        return "--gpu-memory-utilization, or more cards"
    if cap is not None and cap < HEADROOM_FACTOR * context:
        return f"--max-total-tokens is {cap}"
    return "--mem-fraction-static, or more cards"
