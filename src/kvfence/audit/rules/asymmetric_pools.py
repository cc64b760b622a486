"""Prefill takes shorter prompts than decode does.

## What it says

For a prefill and a decode worker that serve the same requests, prefill's limit is below decode's. The finding names
the lengths in between: those that prefill refuses and for which decode reserves.

## Why it matters

Exactly these lengths leaked on SGLang up to 0.5.19: prefill keeps a stub of one token, decode has reserved pages for
the whole prompt, one page arrives, and the others still hold somebody else's text. The asymmetry is natural, since the
roles keep different reserves; equal `--context-length` does not help when a pool is smaller. Neither role learns the
other's limit. With `--allow-auto-truncate` the same lengths leak in every version read, up to 0.5.23.

## How bad

Critical where the version is older than 0.5.20 or unknown, where truncation is on, and on kvfence's cell without I1,
I2 and I5; medium where the prefill side is known to turn the prompt away or a later layer is on. With I1 the cell's
router refuses by the smaller limit, which is no finding.

## What ends it

The same limit on both roles: the smaller one, set as the context of both. vLLM holds a prompt only in a pool of one
block more than its context (seen on 0.32), and with `--max-model-len auto` shortens the context to what the pool holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import (
    LIMIT_FACTS,
    Deployment,
    cell_refuses_by_type,
    cell_severity,
    context_flag,
    engine_of,
    first_refused,
    grouped,
    refuses_like_sglang,
    version_below,
)
from kvfence.audit.promise import fitting_context, pool_for, pool_tokens_for, setting
from kvfence.facts.fact import Engine, NodeFacts
from kvfence.facts.sglang_limit import LIMIT_BELOW
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "asymmetric-pools"
CODE = "KVF102"
_NOTHING_SENT_SINCE = "0.5.20"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each prefill node, with the decode node whose limit is the farthest above its own."""
    worst: dict[str, tuple[NodeFacts, NodeFacts]] = {}
    for prefill, decode in deployment.pairs():
        known = worst.get(prefill.name)
        if _gap(prefill, decode) > (_gap(*known) if known else 0):
            worst[prefill.name] = prefill, decode
    for prefill, decode in worst.values():
        if not cell_refuses_by_type(prefill):
            yield _finding(prefill, decode)


def _gap(prefill: NodeFacts, decode: NodeFacts) -> int:
    lower, upper = first_refused(prefill), first_refused(decode)
    return upper - lower if lower is not None and upper is not None else 0


def _finding(prefill: NodeFacts, decode: NodeFacts) -> Finding:
    lower, upper = first_refused(prefill) or 0, first_refused(decode) or 0
    engine = engine_of(prefill)
    below = LIMIT_BELOW if engine is Engine.SGLANG else -1
    fits = min(lower + below, fitting_context((prefill, decode)) or lower)
    return Finding(
        rule=ID,
        severity=_severity(prefill, decode),
        confidence=Confidence.HIGH,
        node=prefill.name,
        message=(
            f"Prefill refuses prompts from {grouped(lower)} tokens on, decode ({decode.name}) only from "
            f"{grouped(upper)} on. Prompts of {grouped(lower)} to {grouped(upper - 1)} tokens are refused by one and "
            f"reserved for by the other. {_consequence(prefill, decode)}"
        ),
        evidence=(*prefill.evidence(*LIMIT_FACTS), *decode.evidence(*LIMIT_FACTS)),
        fix=f"Give both the same limit: {setting(fits, prefill, decode)} on prefill and on decode; "
        f"or {_raised(prefill, upper + below)}.",
    )


def _raised(prefill: NodeFacts, tokens: int) -> str:
    """How prefill comes to take what decode takes: a context as long, and a pool that holds it."""
    context, pool = prefill.number("context_length"), prefill.number("pool_tokens")
    longer = f"{context_flag(prefill)} {tokens} on prefill too" if context is not None and context < tokens else ""
    needed = f"a pool of at least {pool_for(tokens, prefill)}"
    if engine_of(prefill) is Engine.VLLM:
        longer = longer or f"{context_flag(prefill)} {tokens} on prefill too"
        return f"{longer}, with {needed}, since vLLM keeps one block back"
    if not longer:
        return f"give prefill {needed}, so that it takes what decode takes"
    more = pool is None or pool < pool_tokens_for(tokens, prefill)
    return longer + (f", with {needed}" if more else "")


def _truncates(*nodes: NodeFacts) -> bool:
    return any(fact.value is True for node in nodes if (fact := node.fact("allow_auto_truncate")))


def _severity(prefill: NodeFacts, decode: NodeFacts) -> Severity:
    match engine_of(prefill):
        case Engine.CELL:
            return cell_severity(prefill)
        case _ if not refuses_like_sglang(prefill):
            return Severity.MEDIUM
        case _:
            turned_away = version_below(prefill, _NOTHING_SENT_SINCE) is False
            return Severity.MEDIUM if turned_away and not _truncates(prefill, decode) else Severity.CRITICAL


def _consequence(prefill: NodeFacts, decode: NodeFacts) -> str:
    if _severity(prefill, decode) is Severity.MEDIUM:
        return "The limit that callers are told is not the one that holds."
    if _truncates(prefill, decode):
        return "With --allow-auto-truncate each role cuts to its own limit: decode reads pages that nobody wrote."
    return "These are the lengths at which decode can answer from pages that still hold other requests' text."
