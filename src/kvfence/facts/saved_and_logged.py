"""A saved answer of a server and the log of the same one, made one node; in doubt they stay two.

In a cluster every worker has the same port, so a port decides nothing between replicas. Files that are called alike
(`p0.log` and `p0.json`, or `p0.server_info.json`) are of one server if nothing that both say of its identity differs.
Otherwise port and pool must agree, nothing at all may differ, and no other pair may fit as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kvfence.facts.fact import NodeFacts
from kvfence.facts.node_name import node_name
from kvfence.facts.one_node import IDENTITY, agree, differ, from_endpoint, joined

_SAME_SERVER = ("port", "pool_tokens")


@dataclass(frozen=True, slots=True)
class _Pair:
    saved: int
    log: int

    def shares_one_with(self, other: _Pair) -> bool:
        return self.saved == other.saved or self.log == other.log


def with_saved(nodes: Sequence[NodeFacts]) -> tuple[list[NodeFacts], list[tuple[str, str]]]:
    """The nodes, saved answers joined with their logs; and which answers stay apart, and why."""
    fitting = [
        _Pair(saved, log)
        for saved, answer in enumerate(nodes)
        for log, node in enumerate(nodes)
        if _is_saved(answer) and _is_logged(node) and _may_be_one(answer, node)
    ]
    named = _undisputed([pair for pair in fitting if _called_alike(nodes[pair.saved], nodes[pair.log])])
    others = [pair for pair in fitting if not any(pair.shares_one_with(one) for one in named)]
    alike = [pair for pair in others if _say_the_same(nodes[pair.saved], nodes[pair.log])]
    decided = [*named, *_undisputed(alike)]
    one = {pair.log: joined(nodes[pair.saved], nodes[pair.log], _name(nodes, pair)) for pair in decided}
    gone = {pair.saved for pair in decided}
    kept = [one.get(index, node) for index, node in enumerate(nodes) if index not in gone]
    return kept, [
        (
            nodes[saved].name,
            f"it may be the node of {', '.join(rivals)}: nothing decides it, so they are reported apart",
        )
        for saved in sorted({pair.saved for pair in alike} - gone)
        if (rivals := [nodes[pair.log].name for pair in alike if pair.saved == saved])
    ]


def _undisputed(pairs: Sequence[_Pair]) -> list[_Pair]:
    return [pair for pair in pairs if sum(pair.shares_one_with(other) for other in pairs) == 1]


def _is_saved(node: NodeFacts) -> bool:
    """Only a field of an answer has no line."""
    places = [fact.seen for fact in node.facts.values()]
    return not node.planned and any(seen.line is None for seen in places) and not any(map(from_endpoint, places))


def _is_logged(node: NodeFacts) -> bool:
    return not (node.planned or node.superseded) and all(fact.seen.line is not None for fact in node.facts.values())


def _may_be_one(saved: NodeFacts, logged: NodeFacts) -> bool:
    return (
        not differ(saved, logged, *IDENTITY) and saved.fact("engine") is not None and logged.fact("engine") is not None
    )


def _say_the_same(saved: NodeFacts, logged: NodeFacts) -> bool:
    return agree(saved, logged, *_SAME_SERVER) and not joined(saved, logged, "").differing


def _called_alike(saved: NodeFacts, logged: NodeFacts) -> bool:
    answer, log = node_name(saved.name), node_name(logged.name)
    return answer == log or answer.startswith(f"{log}.")


def _name(nodes: Sequence[NodeFacts], pair: _Pair) -> str:
    """What both files are called, where no other node is; else the log's name beside the answer's."""
    saved, log = nodes[pair.saved], nodes[pair.log]
    if not _called_alike(saved, log):
        return f"{log.name} ({saved.name})"
    short = node_name(log.name)
    return log.name if any(node.name == short for node in nodes if node is not log) else short
