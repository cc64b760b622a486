"""Prompts over a node's limit have been arriving and were refused.

## What it says

The log holds refusals at run time ("Input length (N tokens) exceeds the maximum allowed length"), so the gap between
what is promised and what fits is being hit. On a prefill worker, a batch of exactly one new token straight after such
a line is the placeholder: the refused request ran on, and decode was told "done".

## Why it matters

The placeholder is how other customers' text got into answers. Each such line is a request whose answer must be looked
at. On decode the log shows nothing.

## How bad

| what is seen | severity |
| --- | --- |
| a prefill worker with the placeholder behind a refusal; kvfence's cell without I1, I2 and I5 | critical |
| a prefill worker of unknown version, or a node of unknown role with the placeholder | high |
| any other refusal on a prefill worker or a node of unknown role; the cell with I2 or I5 but not I1 | medium |
| a refusal on one server for both, or on decode | low |

A refusal of kvfence's cell with I1 is the fence at work and no finding.

## What ends it

Close the gap (pool-below-context), upgrade, and go back through the answers to prompts over the limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import (
    Deployment,
    cell_refuses_by_type,
    cell_severity,
    engine_of,
    first_refused,
    grouped,
    role_of,
    version_below,
)
from kvfence.facts.fact import Engine, Happening, Kind, NodeFacts, Role
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "refused-prompts-seen"
CODE = "KVF501"
_NOTHING_SENT_SINCE = "0.5.20"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node that refused prompts."""
    for node, refused in deployment.where(Kind.REFUSED):
        if cell_refuses_by_type(node):
            continue
        stub = _stub(node)
        yield Finding(
            rule=ID,
            severity=_severity(node, stub),
            confidence=Confidence.HIGH if role_of(node) else Confidence.MEDIUM,
            node=node.name,
            message=_message(node, refused, stub),
            evidence=(*(stub.seen[:2] if stub else ()), *refused.seen),
            fix=_fix(node, refused, stub),
        )


def _stub(node: NodeFacts) -> Happening | None:
    """The placeholder, where it matters: one server for both makes one too, and answers it with an error."""
    return None if role_of(node) in {Role.UNIFIED, Role.DECODE} else node.happenings.get(Kind.PLACEHOLDER)


def _severity(node: NodeFacts, stub: Happening | None) -> Severity:
    match role_of(node):
        case Role.UNIFIED | Role.DECODE:
            return Severity.LOW
        case None:
            return Severity.HIGH if stub else Severity.MEDIUM
        case Role.PREFILL:
            if engine_of(node) is Engine.CELL:
                return cell_severity(node)
            if stub:
                return Severity.CRITICAL
            return Severity.MEDIUM if version_below(node, _NOTHING_SENT_SINCE) is False else Severity.HIGH


def _message(node: NodeFacts, refused: Happening, stub: Happening | None) -> str:
    longest = f", the longest of {grouped(refused.asked_tokens_max)} tokens" if refused.asked_tokens_max else ""
    limit = node.number("max_req_input_len") or node.number("usable_length")
    over = f" over the limit of {grouped(limit)}" if limit else ""
    counted = f"{refused.count} refusal{'s' * (refused.count != 1)} of prompts{over} in this log{longest}."
    if stub:
        return (
            f"{counted} {stub.count} of them ran on as a placeholder: a batch of one new token follows. What decode "
            "answered to these requests may hold other requests' text."
        )
    if engine_of(node) is Engine.CELL:
        return f"{counted} Under these rules a refused prompt runs on as a placeholder of one token."
    return counted


def _fix(node: NodeFacts, refused: Happening, stub: Happening | None) -> str:
    first = first_refused(node)
    door = f"prompts of {grouped(first)} tokens or more" if first else "prompts over this node's limit"
    if _severity(node, stub) in {Severity.LOW, Severity.MEDIUM}:
        return f"Refuse {door} at the router, or promise no more than fits (pool-below-context)."
    return (
        f"Refuse {door} at the router before they reach this worker; then read the answers to all such prompts "
        f"({refused.count} in this log) and rotate what was in them."
    )
