"""The KV pool holds fewer tokens than the context that is promised.

## What it says

The pool is what memory was left over; the context is a setting. Where the pool is smaller, prompts between the two
are promised and cannot be held. The finding names both figures, the lengths that reach the refusal, and what to set.

## Why it matters

On one server the caller gets an error, or less than was promised. With prefill and decode on separate workers the
refusal is the dangerous path: SGLang up to 0.5.19 turns the refused prompt into one token, sends one page, and decode
answers over pages that still hold other customers' text, with status 200. That was the incident. 0.5.20 still runs the
token and sends nothing of it; from 0.5.21 on the prompt is turned away at the door. Decode is not told by either, and
holds its pages for up to 300 s.

## How bad

| role | severity |
| --- | --- |
| prefill, SGLang that is or may be older than 0.5.20; kvfence's cell without I1, I2 and I5 | critical |
| role unknown | high |
| decode; prefill from 0.5.20 on; vLLM with a role; kvfence's cell with I2 or I5 but not I1 | medium |
| one server for both; kvfence's cell with I1 | low |

## What ends it

Promise what is there, or make what is promised fit: one setting, named with its figure. Measure again after every
change of quantisation, parallelism or CUDA graphs, because each changes what memory is left.

The figure is for every node that serves the same requests: the smallest of them decides. On SGLang it keeps a page of
prefill's pool back, without which the longest prompts pass the limit and are never run; and the longest prompt taken is
seven below the context. Decode keeps `--num-reserved-decode-tokens` back for each request (512 unless set), which no
log tells: where decode's pool is the smaller one, promise that much less. With vLLM one block of the pool serves
nobody, and it does not start, or never answers, with a context that needs it; V0 refuses prompts that leave less than a
hundredth of its blocks. Both figures keep that back too: the context that fits, and the pool that would hold all of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import (
    LIMIT_FACTS,
    Deployment,
    cell_severity,
    engine_of,
    first_refused,
    grouped,
    holds_tokens,
    refuses_like_sglang,
    role_of,
    version_below,
)
from kvfence.audit.promise import fitting_context, path_of, pool_for, pool_tokens_for, setting, taken_at
from kvfence.audit.source_of import source_of
from kvfence.facts.fact import Engine, Kind, NodeFacts, Role
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "pool-below-context"
CODE = "KVF101"
_NOTHING_SENT_SINCE = "0.5.20"
_FIXED_AT_THE_DOOR = "0.5.21"
_CELL_CONSEQUENCE = {
    Severity.LOW: "They get a 4xx that names both figures.",
    Severity.MEDIUM: "A refused prompt runs on as one token; a later layer keeps other requests' text out.",
}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node whose pool is below its context."""
    for node in deployment.current():
        held, context = holds_tokens(node), node.number("context_length")
        if held is None or context is None or held >= context:
            continue
        yield Finding(
            rule=ID,
            severity=_severity(node),
            confidence=_confidence(node),
            node=node.name,
            message=f"{_gap(node, held, context)} {_lengths(node, held, context)} {_consequence(node)}",
            evidence=node.evidence("pool_tokens", *LIMIT_FACTS),
            fix=_fix(node, context, fitting_context(path_of(node, deployment)) or held),
        )


def _severity(node: NodeFacts) -> Severity:
    engine, role = engine_of(node), role_of(node)
    if engine is Engine.CELL:
        return cell_severity(node)
    if role is Role.UNIFIED:
        return Severity.LOW
    if role is None:
        return Severity.HIGH
    if role is Role.DECODE or not refuses_like_sglang(node) or version_below(node, _NOTHING_SENT_SINCE) is False:
        return Severity.MEDIUM
    return Severity.CRITICAL


def _confidence(node: NodeFacts) -> Confidence:
    """Without its own limit, SGLang's pool may count more than once (DP attention, DCP)."""
    known = engine_of(node) is not Engine.SGLANG or node.fact("max_req_input_len")
    return Confidence.HIGH if known else Confidence.MEDIUM


def _gap(node: NodeFacts, held: int, context: int) -> str:
    share = 100 * (context - held) / context
    about = "" if node.fact("pool_tokens") else "about "
    return (
        f"The KV pool holds {about}{grouped(held)} tokens, {grouped(context - held)} ({share:.0f} %) fewer than the "
        f"{grouped(context)} of the context."
    )


def _lengths(node: NodeFacts, held: int, context: int) -> str:
    if Kind.WILL_NOT_START in node.happenings:
        return "No prompt of the promised length can be held."
    first = first_refused(node) or held + 1
    # SGLang's front door turns away what is as long as the context, before any worker sees it.
    last = context - 1 if engine_of(node) is Engine.SGLANG else context
    return f"Prompts of {grouped(first)} to {grouped(max(last, first))} tokens reach the refusal."


def _consequence(node: NodeFacts) -> str:
    if Kind.WILL_NOT_START in node.happenings:
        return "vLLM refuses to start like this."
    if engine_of(node) is Engine.CELL and _severity(node) is not Severity.CRITICAL:
        return _CELL_CONSEQUENCE[_severity(node)]
    match role_of(node):
        case Role.UNIFIED:
            return "The caller gets an error instead of the length that was promised."
        case Role.DECODE:
            return "Decode refuses what prefill may have accepted."
        case None:
            said = f"{source_of(node).capitalize()} does not show the role"
            return f"{said}: with prefill and decode apart, a refused prompt can be answered."
        case Role.PREFILL:
            return _consequence_on_prefill(node)


def _consequence_on_prefill(node: NodeFacts) -> str:
    if not refuses_like_sglang(node):
        return "Prefill refuses what decode may have reserved for."
    match version_below(node, _FIXED_AT_THE_DOOR):
        case False:
            return "This version turns them away; decode is not told and holds its pages for up to 300 s."
        case True if version_below(node, _NOTHING_SENT_SINCE) is False:
            return (
                "This version runs one token of them and sends nothing; decode is not told and holds its pages for up "
                "to 300 s."
            )
        case True:
            return (
                "A refused prompt runs on as one token, and decode can answer it from pages that still hold "
                "other requests' text."
            )
        case None:
            return (
                "SGLang up to 0.5.19 lets a refused prompt run on as one token, and decode answers it from pages that "
                f"still hold other requests' text; {source_of(node)} does not show the version."
            )


def _fix(node: NodeFacts, context: int, fits: int) -> str:
    engine = engine_of(node)
    taken = taken_at(fits, engine)
    told = f" (prompts of up to {grouped(taken)} tokens are taken then)" if taken < fits else ""
    return (
        f"Promise what fits: {setting(fits, node)} on every node of the path{told}; or {_larger_pool(node, context)}."
    )


def _larger_pool(node: NodeFacts, context: int) -> str:
    cap, needed = node.number("pool_cap_tokens"), pool_tokens_for(context, node)
    match engine_of(node):
        case Engine.SGLANG if cap is not None and cap < needed:
            return f"raise --max-total-tokens from {cap} to at least {needed}"
        case Engine.SGLANG:
            return f"raise --mem-fraction-static until the pool holds at least {grouped(needed)} tokens"
        case Engine.CELL:
            option = f"--{node.text('role') or 'prefill'}-pool {needed}"
            return f"give the pool at least {grouped(needed)} tokens ({option})"
        case Engine.LLAMA_CPP | Engine.TGI | Engine.TENSORRT_LLM | Engine.DYNAMO:
            return f"give the cache memory for at least {grouped(needed)} tokens"
        case _:
            return f"raise --gpu-memory-utilization until the pool holds at least {pool_for(context, node)}"
