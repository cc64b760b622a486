"""The running server, its log and its launch command do not say the same of one node.

## What it says

A node was read more than once, from its endpoint, its log, its launch command, and they do not agree: on the pool, the
context, a check, a version. The finding names each value with its place. The other rules judge the first of these that
says it: the endpoint, since that is what serves now; then the log, which is what was; then the command, which is what
was asked.

## Why it matters

A pool is measured at each start from the memory that is left, so it changes with a restart. Whoever judges the
deployment by a log of last week judges another deployment; and a setting that stands in the launch script and not in
the server protects nobody.

## How bad

Medium where the pool, the context, a limit, a check or a role differs: a clean audit of the other source is worth
nothing then. Low where it is anything else.

## What ends it

The log of the present start, and a restart with the command that is meant to be in force. Some engines change what is
asked (vLLM the page size of a hybrid model); then the command should ask for what the engine takes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, grouped
from kvfence.audit.source_of import Source, source_of
from kvfence.facts.fact import Differing, Fact, NodeFacts
from kvfence.findings.finding import Confidence, Finding, Severity
from kvfence.findings.redact import as_evidence

ID = "sources-disagree"
CODE = "KVF602"
_DECIDES = frozenset(
    {
        "role",
        "pool_tokens",
        "context_length",
        "max_req_input_len",
        "usable_length",
        "kv_canary",
        "kv_checksum",
        "checks",
        "allow_auto_truncate",
        "rules",
        "engine_version",
    }
)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node whose sources differ."""
    for node in deployment.nodes:
        if node.differing:
            yield _finding(node)


def _finding(node: NodeFacts) -> Finding:
    differing = sorted(node.differing, key=lambda one: one.name not in _DECIDES)
    decides = any(one.name in _DECIDES for one in differing)
    return Finding(
        rule=ID,
        severity=Severity.MEDIUM if decides else Severity.LOW,
        confidence=Confidence.HIGH,
        node=node.name,
        message=(
            f"{_sources(node)} of this node disagree: {'; '.join(map(_told, differing))}. "
            "It was started again since, or with other settings, or this is another server's."
        ),
        evidence=tuple(dict.fromkeys(place for one in differing for place in (one.kept.seen, one.other.seen))),
        fix="Audit the log of the present start, and restart the server if the other value is the one that is meant.",
    )


def _sources(node: NodeFacts) -> str:
    source = source_of(node)
    return (
        "The running server and another source"
        if source is Source.LIVE
        else f"{source.capitalize()} and the launch command"
    )


def _told(one: Differing) -> str:
    return f"{one.name} is {_shown(one.kept)}, and {_shown(one.other)} by {one.other.seen.place}"


def _shown(fact: Fact) -> str:
    is_count = isinstance(fact.value, int) and not isinstance(fact.value, bool)
    return grouped(int(fact.value)) if is_count else as_evidence(str(fact.value))
