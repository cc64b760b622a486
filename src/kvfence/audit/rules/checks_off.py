"""A worker of a disaggregated pair runs without any check of what was transferred.

## What it says

Neither the KV checksum nor the KV canary is on (SGLang), or none of the cell's content checks (I2).

## Why it matters

Decode takes "done" for "all of it": no version of SGLang up to 0.5.23 compares what arrived with what was reserved.
The checksum is the only check in the engine that does. It exists from 0.5.21 on and is off by default. It must be on
for both roles, and it can be silently skipped where the roles' layouts differ. The canary does not start on MLA or
DSA pools.

## How bad

Medium: it leaks nothing by itself, and it is what would have caught the leak.

## What ends it

`--disaggregation-enable-kv-checksum` on both roles, from 0.5.21 on. Then see in the log that no line says "skipped".
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, engine_of, is_disaggregated, version_below
from kvfence.facts.fact import Engine, NodeFacts
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "checks-off"
CODE = "KVF201"
_CHECKSUM_SINCE = "0.5.21"
_CONTENT_CHECKS = {"I2-count", "I2-digest"}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each worker of a pair that is known to run unchecked."""
    for node in deployment.current():
        checks = node.text("checks")
        if not is_disaggregated(node) or checks is None or _checked(node, checks):
            continue
        yield Finding(
            rule=ID,
            severity=Severity.MEDIUM,
            confidence=Confidence.HIGH,
            node=node.name,
            message=f"This {node.text('role')} worker checks nothing of what is transferred: {_what(node)}.",
            evidence=node.evidence("checks", "kv_checksum", "kv_canary", "role"),
            fix=_fix(node),
        )


def _checked(node: NodeFacts, checks: str) -> bool:
    if engine_of(node) is Engine.CELL:
        return bool(_CONTENT_CHECKS & set(checks.split(",")))
    return checks != "none"


def _what(node: NodeFacts) -> str:
    if engine_of(node) is Engine.CELL:
        return "neither page counts nor digests are compared before a page is read"
    return "the KV checksum and the KV canary are both off"


def _fix(node: NodeFacts) -> str:
    if engine_of(node) is Engine.CELL:
        return "Serve with --rules fenced."
    if version_below(node, _CHECKSUM_SINCE):
        return "Upgrade to SGLang 0.5.22 or later and set --disaggregation-enable-kv-checksum on prefill and on decode."
    return "Set --disaggregation-enable-kv-checksum on prefill and on decode."
