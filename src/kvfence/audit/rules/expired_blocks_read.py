"""Decode read blocks that prefill had already given up.

## What it says

vLLM's prefill side logged "Potentially invalid KV blocks for unrecognized request … were retrieved by a decode
worker".

## Why it matters

The lease had run out and the blocks may have been reused: decode answered, with status 200, from whatever stood in
them. Public reports of it count wrong answers by the dozen.

## How bad

Critical: each line is an answer that may hold another request's text.

## What ends it

A lease longer than the longest hold, and a check on decode's side that refuses what was read too late.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, counted, named
from kvfence.facts.fact import Kind
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "expired-blocks-read"
CODE = "KVF503"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node whose blocks were read too late."""
    for node, read in deployment.where(Kind.EXPIRED_READ):
        yield Finding(
            rule=ID,
            severity=Severity.CRITICAL,
            confidence=Confidence.MEDIUM,
            node=node.name,
            message=f"{counted(read)} decode read blocks that this worker no longer held for it. "
            f"The answers to these requests may hold other requests' text.{named(read)}",
            evidence=read.seen,
            fix="Raise the time after which prefill gives blocks up (VLLM_NIXL_ABORT_REQUEST_TIMEOUT, or the "
            "connector's lease) above the longest wait for decode, and read the answers to these requests.",
        )
