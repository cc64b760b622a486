"""A content check is switched on and lets requests pass unchecked.

## What it says

SGLang logged that the KV checksum was skipped because the roles' layouts differ, that the roles registered different
numbers of metadata buffers, or that the canary skipped a step.

## Why it matters

The check is on in the settings and off in fact. There is no line that says "verified", so these lines are the only
sign. The warning is printed once per layout, not once per request.

## How bad

High: everybody believes that requests are checked.

## What ends it

The same `--disaggregation-enable-kv-checksum`, page size, TP width and PP stages on both roles.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment
from kvfence.facts.fact import Kind
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "check-not-running"
CODE = "KVF202"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node that says so of itself."""
    for node in deployment.nodes:
        unverified = node.happenings.get(Kind.UNVERIFIED)
        if unverified is None:
            continue
        yield Finding(
            rule=ID,
            severity=Severity.HIGH,
            confidence=Confidence.HIGH,
            node=node.name,
            message=f"The log says {unverified.count} times that requests pass unchecked although a check is on.",
            evidence=unverified.seen,
            fix="Set --disaggregation-enable-kv-checksum, --page-size, --tp-size and --pp-size the same on prefill "
            "and on decode.",
        )
