"""Decode takes shorter prompts than prefill does, or the two promise different contexts.

## What it says

For a prefill and a decode worker that serve the same requests, decode's limit is below prefill's, or their limits are
the same and their contexts are not. The other direction, prefill below decode, is the dangerous one and has a rule of
its own (asymmetric-pools).

## Why it matters

Prompts between the two are computed by prefill and refused by decode: the work is thrown away, and the caller is told
of a limit that the other worker does not have. SGLang up to 0.5.20 lets decode reserve one page for such a prompt and
prefill send all of them. With `--allow-auto-truncate` each role cuts to its own limit and nobody compares the lengths.
Contexts that differ turn into limits that differ as soon as a pool grows.

## How bad

Low; medium where either worker truncates, or where the version is older than 0.5.21 or unknown. Nothing is found on
kvfence's cell, whose router refuses by the smaller limit.

## What ends it

The same context on both roles, and pools that hold it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import (
    LIMIT_FACTS,
    Deployment,
    context_flag,
    engine_of,
    first_refused,
    grouped,
    refuses_like_sglang,
    version_below,
)
from kvfence.facts.fact import Engine, NodeFacts
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "different-limits"
CODE = "KVF105"
_BOTH_DOORS_SINCE = "0.5.21"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each decode worker, with the prefill worker whose limit is the farthest above its own."""
    worst: dict[str, tuple[int, str, NodeFacts, NodeFacts]] = {}
    for prefill, decode in deployment.pairs():
        if engine_of(prefill) is Engine.CELL or prefill.planned or decode.planned:
            continue
        gap, told = _difference(prefill, decode)
        if told and (decode.name not in worst or gap > worst[decode.name][0]):
            worst[decode.name] = gap, told, prefill, decode
    for _gap, told, prefill, decode in worst.values():
        yield _finding(told, prefill, decode)


def _difference(prefill: NodeFacts, decode: NodeFacts) -> tuple[int, str]:
    """By how many tokens they differ, and in what words; no words where they do not, or another rule says it."""
    upper, lower = first_refused(prefill), first_refused(decode)
    if upper is not None and lower is not None and upper != lower:
        told = (
            f"Decode refuses prompts from {grouped(lower)} tokens on, prefill ({prefill.name}) only from "
            f"{grouped(upper)} on: what is between is computed and thrown away."
        )
        return upper - lower, told if upper > lower else ""
    promised, other = prefill.number("context_length"), decode.number("context_length")
    if promised is None or other is None or promised == other:
        return 0, ""
    return abs(promised - other), (
        f"Prefill ({prefill.name}) promises a context of {grouped(promised)} tokens and decode of {grouped(other)}."
    )


def _finding(told: str, prefill: NodeFacts, decode: NodeFacts) -> Finding:
    cuts = _truncates(prefill, decode)
    more = " With --allow-auto-truncate each role cuts to its own limit, and nobody compares the lengths." * cuts
    limits_known = first_refused(prefill) is not None and first_refused(decode) is not None
    return Finding(
        rule=ID,
        severity=_severity(prefill, decode),
        confidence=Confidence.HIGH if limits_known else Confidence.MEDIUM,
        node=decode.name,
        message=told + more,
        evidence=(*decode.evidence(*LIMIT_FACTS), *prefill.evidence(*LIMIT_FACTS)),
        fix=f"Set the same {context_flag(decode)} on both, no longer than the smaller pool holds"
        + ("; and remove --allow-auto-truncate." if cuts else "."),
    )


def _severity(prefill: NodeFacts, decode: NodeFacts) -> Severity:
    if _truncates(prefill, decode):
        return Severity.MEDIUM
    old = refuses_like_sglang(decode) and version_below(decode, _BOTH_DOORS_SINCE) is not False
    return Severity.MEDIUM if old else Severity.LOW


def _truncates(*nodes: NodeFacts) -> bool:
    return any(fact.value is True for node in nodes if (fact := node.fact("allow_auto_truncate")))
