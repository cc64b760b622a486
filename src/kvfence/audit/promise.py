"""The context that every node of a path can keep: what a fix tells to set. No rule lives here.

Lengths are in tokens. Beside its limit (`facts/sglang_limit.py`), SGLang's prefill wants one token and one page beside
a prompt before it lets it run, and a prompt for which they are not there waits without a word (seen on 0.5.19: 112
tokens never ran in a pool of 128 with pages of 16). A page is therefore kept back. Decode keeps
`--num-reserved-decode-tokens` (512 unless set) back for each request, which no log tells; it is not in the figure.
"""

from __future__ import annotations

from collections.abc import Iterable

from kvfence.audit.deployment import Deployment, context_flag, engine_of, holds_tokens, role_of
from kvfence.facts.fact import Engine, NodeFacts, Role
from kvfence.facts.sglang_limit import LIMIT_BELOW, LONGEST_BELOW

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


def _fits(node: NodeFacts) -> int | None:
    held = holds_tokens(node)
    if held is None:
        return None
    page = node.number("page_size") or 1
    whole = held - held % page
    if engine_of(node) is not Engine.SGLANG:
        return whole
    if role_of(node) is not Role.DECODE and LIMIT_BELOW < page < whole:
        whole -= page
    limit = node.number("max_req_input_len")
    return whole if limit is None else min(whole, limit + LIMIT_BELOW)
