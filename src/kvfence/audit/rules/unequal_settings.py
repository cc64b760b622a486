"""Prefill and decode will be launched with different settings.

## What it says

The commands of a prefill and a decode worker that serve the same requests differ in what decides their pools (memory
fraction, cap, KV type, TP width, page size, context), or in the checks that have to be on for both.

## Why it matters

What differs here differs in the pools, and prompts between the two limits are refused by one role and reserved for by
the other. That can be seen before anything is started; how far the pools will be apart, only the start-up logs say. A
checksum on one side only, or pages of different sizes, passes requests unchecked.

## How bad

Medium; low where only the TP width differs, which may be meant. It is a hint of unequal pools, not their measure.

## What ends it

The same settings on both roles, or a reason for each that differs; then the logs of both, audited together.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment
from kvfence.facts.fact import NodeFacts
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "unequal-settings"
CODE = "KVF601"
_COMPARED = {
    "mem_fraction": "memory fraction",
    "pool_cap_tokens": "pool cap",
    "kv_dtype": "KV type",
    "tp_size": "TP width",
    "page_size": "page size",
    "context_length": "context",
    "quantization": "quantization",
    "kv_checksum": "KV checksum",
    "kv_canary": "KV canary",
}
_MAY_BE_MEANT = {"tp_size"}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each prefill command, with the decode command from which it differs most."""
    most: dict[str, tuple[NodeFacts, NodeFacts]] = {}
    for prefill, decode in deployment.pairs():
        if prefill.planned and decode.planned:
            known = most.get(prefill.name)
            if len(_differing(prefill, decode)) > (len(_differing(*known)) if known else 0):
                most[prefill.name] = prefill, decode
    for prefill, decode in most.values():
        yield _finding(prefill, decode, _differing(prefill, decode))


def _differing(prefill: NodeFacts, decode: NodeFacts) -> list[str]:
    known = [name for name in _COMPARED if prefill.fact(name) and decode.fact(name)]
    return [name for name in known if _value(prefill, name) != _value(decode, name)]


def _value(node: NodeFacts, name: str) -> str | int | bool | float | None:
    fact = node.fact(name)
    if fact is None:
        return None
    return float(fact.value) if name == "mem_fraction" else fact.value


def _shown(node: NodeFacts, name: str) -> str:
    fact = node.fact(name)
    match fact.value if fact else None:
        case True:
            return "on"
        case False:
            return "off"
        case value:
            return str(value)


def _finding(prefill: NodeFacts, decode: NodeFacts, names: list[str]) -> Finding:
    told = "; ".join(f"{_COMPARED[name]} {_shown(prefill, name)} and {_shown(decode, name)}" for name in names)
    return Finding(
        rule=ID,
        severity=Severity.MEDIUM if set(names) - _MAY_BE_MEANT else Severity.LOW,
        confidence=Confidence.MEDIUM,
        node=prefill.name,
        message=f"Prefill and decode ({decode.name}) are launched with different settings: {told}. Their pools will "
        "differ, or their checks will not run; how far they are apart, their start-up logs say.",
        evidence=(*prefill.evidence(*names), *decode.evidence(*names)),
        fix=f"Launch both with the same {', '.join(_COMPARED[name] for name in names)}; then audit the logs of both.",
    )
