"""Prefill and decode lay KV out differently.

## What it says

A running prefill and a running decode worker that serve the same requests differ in page size, KV type, attention
backend, TP width or PP stages. Types are compared under one name (`bf16` is `bfloat16`).

## Why it matters

Pages are copied by position. SGLang compares page size and KV type when the workers meet, so those that differ mean a
pair that refuses to work, or facts of two deployments. With the KV checksum on, any of them takes the check away: up
to 0.5.22 every request fails on it, and 0.5.23 lets requests in unverified after one warning. Attention backends may
store the same type in another order.

## How bad

| what differs | severity |
| --- | --- |
| page size, KV type, TP width or PP stages, with the KV checksum on | high |
| page size or KV type | medium |
| attention backend alone | low |
| TP width or PP stages alone, without the checksum | not found: it may be meant |

Confidence is medium on vLLM, whose connectors translate some of these.

## What ends it

The same values on both roles. What launch commands alone say is unequal-settings' matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvfence.audit.deployment import Deployment, engine_of
from kvfence.facts.fact import Engine, NodeFacts
from kvfence.facts.kv_type import one_name
from kvfence.findings.finding import Confidence, Finding, Severity
from kvfence.findings.redact import as_evidence

ID = "layouts-differ"
CODE = "KVF604"
_NAMES = {
    "page_size": "page size",
    "kv_dtype": "KV type",
    "attention_backend": "attention backend",
    "tp_size": "TP width",
    "pp_size": "PP stages",
}
_BREAKS = {"page_size", "kv_dtype"}
_MAY_BE_MEANT = {"tp_size", "pp_size"}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each prefill worker, with the decode worker from which it differs worst."""
    worst: dict[str, Finding] = {}
    for prefill, decode in deployment.pairs():
        if engine_of(prefill) is Engine.CELL or (prefill.planned and decode.planned):
            continue
        found = _finding(prefill, decode)
        if found and (prefill.name not in worst or _weight(found) > _weight(worst[prefill.name])):
            worst[prefill.name] = found
    yield from worst.values()


def _weight(finding: Finding) -> int:
    return -list(Severity).index(finding.severity)


def _finding(prefill: NodeFacts, decode: NodeFacts) -> Finding | None:
    differing = [name for name in _NAMES if _differs(name, prefill, decode)]
    severity = _severity(differing, checked=_is_checked(prefill, decode))
    if severity is None:
        return None
    told = "; ".join(f"{_NAMES[name]} {_shown(prefill, name)} and {_shown(decode, name)}" for name in differing)
    unchecked = " The KV checksum is on and does not check such a pair." if severity is Severity.HIGH else ""
    return Finding(
        rule=ID,
        severity=severity,
        confidence=Confidence.HIGH if engine_of(prefill) is Engine.SGLANG else Confidence.MEDIUM,
        node=prefill.name,
        message=f"Prefill and decode ({decode.name}) lay KV out differently: {told}.{unchecked}",
        evidence=(*prefill.evidence(*differing), *decode.evidence(*differing)),
        fix=f"Start both with the same {', '.join(_NAMES[name] for name in differing)}.",
    )


def _severity(differing: Sequence[str], *, checked: bool) -> Severity | None:
    layout = set(differing) & (_BREAKS | _MAY_BE_MEANT)
    if layout and checked:
        return Severity.HIGH
    if layout & _BREAKS:
        return Severity.MEDIUM
    return Severity.LOW if set(differing) - _MAY_BE_MEANT else None


def _is_checked(*nodes: NodeFacts) -> bool:
    return any(fact.value is True for node in nodes if (fact := node.fact("kv_checksum")))


def _differs(name: str, prefill: NodeFacts, decode: NodeFacts) -> bool:
    one, other = _value(prefill, name), _value(decode, name)
    return one is not None and other is not None and one != other


def _value(node: NodeFacts, name: str) -> str | int | None:
    fact = node.fact(name)
    if fact is None or fact.value == "auto":
        return None
    return one_name(fact.value) if isinstance(fact.value, str) else fact.value


def _shown(node: NodeFacts, name: str) -> str:
    return as_evidence(str(node.facts[name].value))
