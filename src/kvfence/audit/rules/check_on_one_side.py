"""A content check is on for one half of a pair and off for the other.

## What it says

A prefill and a decode worker that serve the same requests were read, and the KV checksum or the KV canary is on for
one of them only. The finding stands at the one that lacks it.

## Why it matters

SGLang's checksum compares what prefill has attested with what decode got. Without it on prefill there is nothing to
compare with, without it on decode nobody compares; in both cases requests are let in unverified. Up to 0.5.22 decode
may also compare with what another request left in the row. One half looks checked in every list of settings.

## How bad

High for the checksum: everybody believes that requests are checked. Medium for the canary, whose tags travel with the
pages and are then missing on one side.

## What ends it

The same setting on both roles. A worker with no check at all is also told by checks-off; what launch commands alone
say, by unequal-settings.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment
from kvfence.facts.fact import NodeFacts
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "check-on-one-side"
CODE = "KVF203"
_CHECKS = {
    "kv_checksum": ("KV checksum", "--disaggregation-enable-kv-checksum", Severity.HIGH),
    "kv_canary": ("KV canary", "--kv-canary", Severity.MEDIUM),
}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each check and each worker that lacks it, with the first peer that has it."""
    told: set[tuple[str, str]] = set()
    for pair in deployment.pairs():
        if all(node.planned for node in pair):
            continue
        for name in _CHECKS:
            on = [node for node in pair if _is_on(node, name) is True]
            off = [node for node in pair if _is_on(node, name) is False]
            if on and off and (name, off[0].name) not in told:
                told.add((name, off[0].name))
                yield _finding(name, off[0], on[0])


def _is_on(node: NodeFacts, name: str) -> bool | None:
    fact = node.fact(name)
    return None if fact is None else fact.value not in {False, "none"}


def _finding(name: str, off: NodeFacts, on: NodeFacts) -> Finding:
    called, flag, severity = _CHECKS[name]
    return Finding(
        rule=ID,
        severity=severity,
        confidence=Confidence.HIGH,
        node=off.name,
        message=f"The {called} is on for {on.text('role')} ({on.name}) and off for this {off.text('role')} worker: "
        "what passes between them is not checked.",
        evidence=(*off.evidence(name), *on.evidence(name)),
        fix=f"Set {flag} the same on prefill and on decode.",
    )
