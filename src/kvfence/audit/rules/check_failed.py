"""A content check of the engine caught something.

## What it says

SGLang logged a KV checksum mismatch, a canary violation, or metadata that belongs to another room.

## Why it matters

What arrived was not what was sent. The check ended that request; the cause is still there, and it also acts where
nothing checks.

## How bad

Critical.

## What ends it

Take the pair out of service, keep its logs, and look for the cause: unequal limits, mixed versions, a wider race.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, counted, named
from kvfence.facts.fact import Kind
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "check-failed"
CODE = "KVF502"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node whose checks caught something."""
    for node, failed in deployment.where(Kind.CHECK_FAILED):
        yield Finding(
            rule=ID,
            severity=Severity.CRITICAL,
            confidence=Confidence.HIGH,
            node=node.name,
            message=f"{counted(failed)} a content check caught KV or metadata that was not what was "
            f"sent.{named(failed)}",
            evidence=failed.seen,
            fix="Take this pair out of service until the cause is known; start with the requests in these lines.",
        )
