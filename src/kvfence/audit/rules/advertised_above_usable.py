"""What clients are told they may send is longer than what a worker behind it takes.

## What it says

`/v1/models` has a `max_model_len`, and clients cut their prompts to it. Where a router answers it, every worker behind
that router must keep it, and the worker that keeps the least of it is named. A server's own answer is compared with
what that server itself takes.

## Why it matters

Engines fill that field from the context, not from the pool. A router that passes on one worker's answer (SGLang's small
load balancer of 0.4.5 to 0.4.10 asks the first prefill worker) says nothing of the others. All prompts between the two
figures are sent in good faith, and reach the refusal: with prefill and decode apart, that is the path of the incident.

A few tokens are no matter: SGLang takes prompts of up to seven below its context in any case, and that is allowed for.

## How bad

| who keeps the least | severity |
| --- | --- |
| prefill, SGLang older than 0.5.21 or of unknown version | high |
| another half of a pair, or a worker whose role is not known | medium |
| one server for both | low |

A server whose own pool is below its own context is told by pool-below-context alone, unless a router repeats it.

## What ends it

The same context on every worker, no longer than the smallest of them keeps; then every answer says that.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import (
    LIMIT_FACTS,
    Deployment,
    engine_of,
    grouped,
    holds_tokens,
    refuses_like_sglang,
    role_of,
    version_below,
)
from kvfence.audit.promise import fitting_context, path_of, setting
from kvfence.facts.fact import Engine, Fact, NodeFacts, Role
from kvfence.facts.sglang_limit import LONGEST_BELOW
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "advertised-above-usable"
CODE = "KVF106"
_BOTH_DOORS_SINCE = "0.5.21"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each router that promises too much, and one for each server that does so itself."""
    yield from _by_routers(deployment)
    for node in deployment.current():
        told, kept = node.fact("advertised_length"), _keeps(node)
        if told and kept is not None and int(told.value) > kept and not _is_the_pools(node, int(told.value)):
            yield _finding(told, "advertised_length", node, kept, deployment)


def _by_routers(deployment: Deployment) -> Iterator[Finding]:
    routers: dict[str, tuple[Fact, dict[str, NodeFacts]]] = {}
    for node in deployment.current():
        told = node.fact("front_length")
        if told:
            _told, behind = routers.setdefault(told.seen.file, (told, {}))
            behind.update((one.name, one) for one in path_of(node, deployment))
    for told, behind in routers.values():
        known = [(kept, node) for node in behind.values() if (kept := _keeps(node)) is not None]
        if not known:
            continue
        kept, least = min(known, key=lambda one: one[0])
        if int(told.value) > kept:
            yield _finding(told, "front_length", least, kept, deployment)


def _keeps(node: NodeFacts) -> int | None:
    """The longest context that it could promise, or more than that: the smallest of what is known of it."""
    usable = node.number("usable_length")
    if usable is not None and engine_of(node) is Engine.SGLANG:
        usable += LONGEST_BELOW
    sizes = (holds_tokens(node), node.number("context_length"), usable)
    return min((size for size in sizes if size is not None), default=None)


def _is_the_pools(node: NodeFacts, told: int) -> bool:
    """Whether it only repeats its own context, and pool-below-context says that the pool is below it."""
    held, context = holds_tokens(node), node.number("context_length")
    return held is not None and context is not None and held < context and told <= context


def _finding(told: Fact, name: str, node: NodeFacts, kept: int, deployment: Deployment) -> Finding:
    path = path_of(node, deployment)
    fits = min(fitting_context(path) or kept, kept)
    who = f"the {node.text('role')} worker {node.name}" if role_of(node) else node.name
    by = told.seen.file if name == "front_length" else "Its /v1/models"
    evidence = node.evidence(name, "pool_tokens", *LIMIT_FACTS)
    return Finding(
        rule=ID,
        severity=_severity(node),
        confidence=Confidence.HIGH if node.fact("usable_length") else Confidence.MEDIUM,
        node=node.name,
        message=f"{by} promises {grouped(int(told.value))} tokens, and {who} keeps {grouped(kept)}: "
        f"{grouped(int(told.value) - kept)} more than there are.",
        evidence=tuple(dict.fromkeys((told.seen, *evidence))),
        fix=f"Set {setting(fits, *path)} on every worker behind that address, and see that it then says so.",
    )


def _severity(node: NodeFacts) -> Severity:
    match role_of(node):
        case Role.UNIFIED:
            return Severity.LOW
        case Role.PREFILL if refuses_like_sglang(node) and version_below(node, _BOTH_DOORS_SINCE) is not False:
            return Severity.HIGH
        case _:
            return Severity.MEDIUM
