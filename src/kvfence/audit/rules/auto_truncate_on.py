"""A worker of a disaggregated pair cuts long prompts to its own limit.

## What it says

`--allow-auto-truncate` is on for a prefill or a decode worker of SGLang, or such a worker has truncated a prompt.

## Why it matters

Each role cuts to its own limit and nobody compares the lengths. With unequal pools decode then reads pages that
prefill never sent. This was run on 0.5.23: decode answered with another tenant's text, status 200, and nothing but the
optional checksum stands in the way. No version read is safe from it.

## How bad

Critical where a prompt was seen to be truncated, or where prefill's limit is known to be below decode's; high
otherwise.

## What ends it

Remove `--allow-auto-truncate` from both roles.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import LIMIT_FACTS, Deployment, first_refused, grouped, is_disaggregated
from kvfence.facts.fact import Happening, Kind, NodeFacts
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "auto-truncate-on"
CODE = "KVF103"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each worker of a pair that truncates."""
    unequal = {node.name for pair in deployment.pairs() if _is_unequal(*pair) for node in pair}
    for node in deployment.current():
        allowed = node.fact("allow_auto_truncate")
        truncated = node.happenings.get(Kind.TRUNCATED)
        if not is_disaggregated(node) or not (truncated or (allowed and allowed.value is True)):
            continue
        yield Finding(
            rule=ID,
            severity=Severity.CRITICAL if truncated or node.name in unequal else Severity.HIGH,
            confidence=Confidence.HIGH,
            node=node.name,
            message=_message(node, truncated),
            evidence=(*(truncated.seen if truncated else ()), *node.evidence("allow_auto_truncate", *LIMIT_FACTS)),
            fix="Remove --allow-auto-truncate from prefill and from decode.",
        )


def _is_unequal(prefill: NodeFacts, decode: NodeFacts) -> bool:
    lower, upper = first_refused(prefill), first_refused(decode)
    return lower is not None and upper is not None and lower < upper


def _message(node: NodeFacts, truncated: Happening | None) -> str:
    limit = first_refused(node)
    cut = f" to its own limit of {grouped(limit)} tokens" if limit else " to its own limit"
    seen = f" It has done so {truncated.count} times in this log." if truncated else ""
    return (
        f"This {node.text('role')} worker cuts longer prompts{cut}; the other role cuts to its own, and nobody "
        f"compares the lengths.{seen}"
    )
