"""A content check is switched on and lets requests pass unchecked.

## What it says

SGLang logged that the KV checksum was skipped because the roles' layouts differ, that the roles registered different
numbers of metadata buffers, or that the canary skipped a step.

## Why it matters

The check is on in the settings and off in fact. There is no line that says "verified", so these lines are the only
sign. The warning is printed once per layout, not once per request. A check that is on and leaves no sign at all is told
as not checked, and decides nothing.

## How bad

High: everybody believes that requests are checked.

## What ends it

The same `--disaggregation-enable-kv-checksum`, page size, TP width and PP stages on both roles.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, engine_of, is_disaggregated
from kvfence.facts.fact import Engine, Kind
from kvfence.findings.deployment import NotChecked
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "check-not-running"
CODE = "KVF202"
_SIGNS = {
    "kv_checksum": "KV checksum really compares anything: SGLang has no line and no metric for it; let it fail on "
    "purpose in a test (SGLANG_TEST_DISAGG_KV_CHECKSUM_MISMATCH_PROB, 0.5.23)",
    "kv_canary": "KV canary really runs: look for its lines in the log, `[canary] step=`, every 100 steps",
}
_SHOW_THAT_ONE_RUNS = {Kind.CHECK_FAILED, Kind.UNVERIFIED}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node that says so of itself."""
    for node, unverified in deployment.where(Kind.UNVERIFIED):
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


def gaps(deployment: Deployment) -> Iterator[NotChecked]:
    """Checks that are on, and nothing shows that they do anything."""
    for node in deployment.nodes:
        if not is_disaggregated(node) or node.planned or node.superseded or engine_of(node) is not Engine.SGLANG:
            continue
        for name, sign in _SIGNS.items():
            fact = node.fact(name)
            if fact and fact.value not in {False, "none"} and not _SHOW_THAT_ONE_RUNS & node.happenings.keys():
                yield NotChecked(node.name, f"whether the {sign}", decisive=False, rules=(ID,))
