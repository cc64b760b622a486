"""The context that every node of a path can keep: what a fix tells to set. No rule lives here.

Lengths are in tokens. Beside its limit (`facts/sglang_limit.py`), SGLang's prefill wants one token and one page beside
a prompt before it lets it run, and a prompt for which they are not there waits without a word (seen on 0.5.19: 112
tokens never ran in a pool of 128 with pages of 16). A page is therefore kept back. Decode keeps
`--num-reserved-decode-tokens` (512 unless set) back for each request, which no log tells; it is not in the figure.
Of vLLM's pool one block serves nobody (`facts/vllm_limit.py`), nor does a hundredth of V0's.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from kvfence.audit.deployment import (
    Deployment,
    context_flag,
    engine_of,
    grouped,
    holds_tokens,
    role_of,
    version_below,
)
from kvfence.facts.fact import Engine, Kind, NodeFacts, Role
from kvfence.facts.sglang_limit import LIMIT_BELOW, LONGEST_BELOW
from kvfence.facts.vllm_limit import (
    ALWAYS_V0_BELOW,
    ESTIMATE_COUNTS_IT_SINCE,
    page_unless_set,
    served_by_v0,
    served_by_v1,
)

_POOL_OF = {Role.PREFILL: "prefill-pool", Role.DECODE: "decode-pool"}


def fitting_context(path: Iterable[NodeFacts]) -> int | None:
    """The longest context that can be set on all of these nodes; None where nothing is known of any."""
    return min((fits for node in path if (fits := _fits(node)) is not None), default=None)


def path_of(node: NodeFacts, deployment: Deployment) -> tuple[NodeFacts, ...]:
    """The node, and every node that serves requests with it."""
    peers = [one for pair in deployment.pairs() if any(half is node for half in pair) for one in pair]
    return (node, *(peer for peer in peers if peer is not node))


def setting(context: int, *nodes: NodeFacts) -> str:
    """What sets that context on these nodes, as one writes it on a command line.

    The cell's pools follow its context unless they are given: a smaller context alone would shrink them too.
    """
    engine = engine_of(nodes[0])
    kept = "".join(
        f" --{option} {node.number('pool_tokens')}"
        for node in nodes
        if engine is Engine.CELL
        and node.number("pool_tokens")
        and (option := _POOL_OF.get(role_of(node) or Role.UNIFIED))
    )
    return f"{context_flag(nodes[0])} {context}{kept}"


def taken_at(context: int, engine: Engine | None) -> int:
    """The longest prompt that is taken under that context, where it fits."""
    return context - LONGEST_BELOW if engine is Engine.SGLANG else context


def pool_tokens_for(context: int, node: NodeFacts) -> int:
    """The smallest pool, in whole pages where these are known, from which that node takes all of that context."""
    page = node.number("page_size") or 1
    pages = -(-context // page)
    match engine_of(node):
        case Engine.VLLM if _is_v0(node):
            pages = next(n for n in count(pages) if served_by_v0(n * page, page) >= pages * page)
        case Engine.VLLM if page > 1:
            pages += 1
        case Engine.SGLANG if role_of(node) is not Role.DECODE and page > LIMIT_BELOW:
            pages += 1
        case _:
            pass
    return pages * page


def pool_for(context: int, node: NodeFacts) -> str:
    """The pool that node needs to keep that context, as a sentence calls it."""
    one_more = engine_of(node) is Engine.VLLM and not _is_v0(node) and not node.number("page_size")
    return f"{grouped(pool_tokens_for(context, node))} tokens{' and one block' * one_more}"


def _fits(node: NodeFacts) -> int | None:
    held = holds_tokens(node)
    if held is None:
        return None
    if engine_of(node) is Engine.VLLM:
        return _fits_vllm(node, held)
    page = node.number("page_size") or 1
    whole = held - held % page
    if engine_of(node) is not Engine.SGLANG:
        return whole
    if role_of(node) is not Role.DECODE and LIMIT_BELOW < page < whole:
        whole -= page
    limit = node.number("max_req_input_len")
    return whole if limit is None else min(whole, limit + LIMIT_BELOW)


def _fits_vllm(node: NodeFacts, held: int) -> int:
    page, context = node.number("page_size") or page_unless_set(node.text("device")), node.number("context_length") or 0
    if _is_v0(node):
        return served_by_v0(held, page)
    counted = version_below(node, ESTIMATE_COUNTS_IT_SINCE) is False
    if counted and node.number("pool_tokens") is None:
        return held
    served = served_by_v1(held, page)
    # It started with its context, which need not be whole blocks; its figure is then rounded from that context.
    started = context if counted and context <= held else 0
    # The figure of a model with KV of several kinds says nothing of a longer context than its own.
    return min(max(served, started), context) if node.fact("hybrid_kv") and context else max(served, started)


def _is_v0(node: NodeFacts) -> bool:
    """Whether it is vLLM's older engine: by its version, or because only that one says its pool and does not start."""
    told_its_pool = Kind.WILL_NOT_START in node.happenings and node.number("pool_tokens") is not None
    return told_its_pool or version_below(node, ALWAYS_V0_BELOW) is True
