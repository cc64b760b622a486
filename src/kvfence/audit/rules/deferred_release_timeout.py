"""Pages were handed on although a remote write into them, or a read of them, may still have been under way.

## What it says

SGLang logged that a deferred release timed out "without a full drain ack from prefill; releasing anyway", or vLLM that
it released blocks whose lease had run out before decode read them.

## Why it matters

A page that is free goes to the next request. A write that lands after that puts one customer's KV into another's
request; a read after that takes the next customer's text. This is the wider race beside the incident.

## How bad

High: each line is a page that may have changed hands too early.

## What ends it

Find out why transfers take that long (dead peers, mixed versions), and restart decode workers whose peer is gone,
rather than let pages be reused.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, counted, engine_of, named
from kvfence.facts.fact import Engine, Kind
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "deferred-release-timeout"
CODE = "KVF504"
_FIX = {
    Engine.SGLANG: "Run SGLang 0.5.22 or later on both roles, and raise "
    "SGLANG_DISAGGREGATION_DEFERRED_DECODE_KV_RELEASE_TIMEOUT (30 s) above the slowest transfer that you see.",
    Engine.VLLM: "Raise the time after which prefill gives blocks up (VLLM_NIXL_ABORT_REQUEST_TIMEOUT, or the "
    "connector's lease) above the longest wait for decode.",
}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node that released pages early."""
    for node, released in deployment.where(Kind.RELEASED_UNDRAINED):
        engine = engine_of(node)
        if engine is None:
            continue
        yield Finding(
            rule=ID,
            severity=Severity.HIGH,
            confidence=Confidence.MEDIUM,
            node=node.name,
            message=f"{counted(released)} pages were released before their transfer was known to be "
            f"over.{named(released)}",
            evidence=released.seen,
            fix=_FIX.get(engine, "Restart the worker whose peer is gone."),
        )
