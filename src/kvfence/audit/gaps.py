"""What an audit could not look at, and whether that decides. No rule and no finding lives here.

A gap is decisive where what is missing could have been a finding: a node's pool or context, its role, the other half of
a pair, the checks of a worker that is known to be half of one. Without a role a pool that holds its context still tells
that no prompt comes to the refusal; whether its checks are on, and what its version does to a pair, nobody could ask.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import (
    Deployment,
    engine_of,
    grouped,
    holds_tokens,
    is_disaggregated,
    role_of,
)
from kvfence.audit.rules.fix_absent import JUDGED
from kvfence.audit.source_of import Source, source_of
from kvfence.audit.whence import sizes_from
from kvfence.facts.fact import Engine, NodeFacts, Role
from kvfence.findings.deployment import NotChecked
from kvfence.findings.source_tree import Presence, SourceTree

_OF_SIZES = ("pool-below-context", "asymmetric-pools")
_OF_CHECKS = ("checks-off", "affected-version")
_OF_ROLES = ("asymmetric-pools", "checks-off", "affected-version")
_OF_PAIRS = ("asymmetric-pools", "auto-truncate-on")


_HOW_CHECKS = {
    Source.COMMAND: "its log says it",
    Source.LIVE: "/server_info says it, or its log",
    Source.SAVED: "its log says it, or the whole of its /server_info",
    Source.LOG: "its settings line says it",
}


def gaps_of(deployment: Deployment) -> Iterator[NotChecked]:
    """Everything about these nodes that was not seen."""
    for node in deployment.current():
        yield from _node_gaps(node)
    yield from _pair_gaps(deployment)
    for tree in deployment.trees:
        yield from _tree_gaps(tree)
    yield from _source_gaps(deployment)


def _node_gaps(node: NodeFacts) -> Iterator[NotChecked]:
    if node.planned:
        yield from _planned_gaps(node)
        return
    missing = [
        word
        for word, known in (
            ("pool size", holds_tokens(node)),
            ("context length", node.number("context_length")),
        )
        if known is None
    ]
    if missing:
        what = " and ".join(missing)
        be = "is" if len(missing) == 1 else "are"
        why = f"its {what} {be} not in {source_of(node)}; {sizes_from(node)}"
        yield NotChecked(node.name, why, rules=_OF_SIZES)
    if role_of(node) is None:
        why = (
            f"its role is not in {source_of(node)}, so it was not compared, nor asked for its checks; {_how_role(node)}"
        )
        yield NotChecked(node.name, why, rules=_OF_ROLES)
    yield from _taken_for_one_server(node)
    yield from _figures_to_doubt(node)
    if not is_disaggregated(node):
        return
    if engine_of(node) is Engine.VLLM:
        yield NotChecked(node.name, "vLLM has no check of transferred KV whose setting could be read", decisive=False)
    elif node.fact("checks") is None:
        how = _HOW_CHECKS[source_of(node)]
        why = f"whether its content checks are on is not in {source_of(node)}; {how}"
        yield NotChecked(node.name, why, rules=_OF_CHECKS)


def _taken_for_one_server(node: NodeFacts) -> Iterator[NotChecked]:
    """A KV connector is named among the settings of vLLM and as it is made; a log that is cut short has neither."""
    role, pool = node.fact("role"), node.fact("pool_tokens")
    by_silence = role is not None and pool is not None and role.seen == pool.seen
    if engine_of(node) is Engine.VLLM and role_of(node) is Role.UNIFIED and by_silence and not node.fact("model"):
        why = (
            "it was taken for one server for both roles, since no KV connector is named in its log; its settings are "
            "not there either, so if the log is cut short give it from its start on"
        )
        yield NotChecked(node.name, why, decisive=False, rules=_OF_ROLES)


def _figures_to_doubt(node: NodeFacts) -> Iterator[NotChecked]:
    """Sizes that were read and do not mean what they look like."""
    pool, window, usable = (node.number(name) for name in ("pool_tokens", "swa_pool_tokens", "usable_length"))
    if node.fact("hybrid_kv") and pool is not None:
        yield NotChecked(
            node.name,
            f"its model has layers with KV of several kinds, so the {grouped(pool)} tokens that vLLM prints are its "
            "maximum concurrency times the longest sequence, not what a pool holds; compare it with the context only",
            decisive=False,
        )
    if window is not None and pool is not None and window < pool and usable is None:
        yield NotChecked(
            node.name,
            f"its pool for sliding windows holds {grouped(window)} tokens, fewer than the {grouped(pool)} of the full "
            "one; SGLang up to 0.5.11, and prefill for some versions after it, refuses prompts over the smaller one, "
            "so its true limit is not known; /server_info has max_req_input_len",
            decisive=False,
        )


def _how_role(node: NodeFacts) -> str:
    """How somebody finds out whether a server is half of a pair."""
    if source_of(node) is not Source.LOG:
        return "give its log or its launch command as well"
    match engine_of(node):
        case Engine.SGLANG:
            return "its server_args line, early in the log, or its /server_info says it"
        case _:
            return "give the log from its start on, or its launch command as well"


def _planned_gaps(node: NodeFacts) -> Iterator[NotChecked]:
    """What no launch command can say, and what this one does not."""
    how = "its /server_info" if engine_of(node) is Engine.SGLANG else "its /metrics"
    context = "" if node.fact("context_length") else ", nor the context, which is the model's own here"
    why = f"a launch command does not say what the pool will hold{context}; start it once and give its log, or {how}"
    yield NotChecked(node.name, why)
    if role_of(node) is None:
        yield NotChecked(node.name, "its role does not follow from its command, so it was not compared", decisive=False)


def _pair_gaps(deployment: Deployment) -> Iterator[NotChecked]:
    prefill, decode = deployment.of(Role.PREFILL), deployment.of(Role.DECODE)
    if decode and not prefill:
        names = ", ".join(node.name for node in decode)
        why = "no prefill worker's log or address was given: its pool decides whether decode reads stale pages"
        yield NotChecked(names, why, rules=_OF_PAIRS)
    if prefill and not decode:
        names = ", ".join(node.name for node in prefill)
        yield NotChecked(
            names, "no decode worker's log or address was given, so the limits were not compared", decisive=False
        )


def _tree_gaps(tree: SourceTree) -> Iterator[NotChecked]:
    """What a tree does not show. A fix that no finding is made of does not decide."""
    for verdict in tree.verdicts:
        if verdict.presence is Presence.CANNOT_TELL:
            yield NotChecked(
                tree.name,
                f"whether {verdict.fix} is in it cannot be told: {verdict.reason}; give a complete copy of the tree",
                decisive=verdict.fix in JUDGED,
                rules=("fix-absent",),
            )


def _source_gaps(deployment: Deployment) -> Iterator[NotChecked]:
    """Engines of a pair whose code was not given: their version says what it should hold, and not what it does."""
    given = {tree.engine for tree in deployment.trees}
    for engine in (Engine.SGLANG, Engine.VLLM):
        pair = [node for node in deployment.nodes if engine_of(node) is engine and is_disaggregated(node)]
        if pair and engine.value not in given:
            yield NotChecked(
                ", ".join(node.name for node in pair),
                f"which fixes are in the code that runs was not looked at; --source with the {engine.value} package "
                "that runs, or its wheel, tells it",
                decisive=False,
                rules=("fix-absent",),
            )
