"""A node that was read twice or more, from its log, its endpoint, its launch command, made one; in doubt it stays two.

A log and a launch command come first (`launched_and_logged`), then a log and a saved answer (`saved_and_logged`), then
what was read of a running server. Two readings are
of one node when nothing that they both say of its identity differs (engine, role, model, port, a host where both name
one, a bootstrap port where no port decides), something that can only be one server's agrees (its port, or its host's
name), and no third reading fits as well. On no port at all they are one only if role, pool and context agree: then
nothing hangs on it. A log does not prove that it is of the server that answers now, so what the two differ in is kept
beside the facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from urllib.parse import urlsplit

from kvfence.facts.fact import NodeFacts
from kvfence.facts.launched_and_logged import with_commands
from kvfence.facts.one_node import IDENTITY, agree, differ, from_endpoint, hosts_differ, is_one_machine, joined
from kvfence.facts.reading import Reading
from kvfence.facts.saved_and_logged import with_saved

_SAME_WITHOUT_PORT = ("role", "pool_tokens", "context_length")


class _Kind(IntEnum):
    """What a node was read from; one of each may be of the same server."""

    LIVE = 0
    BOOTSTRAP = 1
    """A prefill worker's bootstrap server, which has a port of its own."""
    MEASURED = 2
    """A log: it has what the server found at its start."""
    ASKED = 3
    """Settings alone: a launch command, or a log that ends before the pool."""


@dataclass(frozen=True, slots=True)
class _Pair:
    live: int
    other: int


def asked_once(readings: Sequence[tuple[str, Reading]]) -> list[tuple[str, Reading]]:
    """The readings by target, a server that several asked (named, and by its router) in the first one alone.

    What only another one says of it is kept: a router may know a role that its worker does not tell.
    """
    nodes: list[list[NodeFacts]] = []
    homes: dict[tuple[str, str], tuple[int, int]] = {}
    for at, (_target, reading) in enumerate(readings):
        nodes.append([])
        for node in reading.nodes:
            key = _asked(node)
            home = homes.get(key, (at, 0)) if key else (at, 0)
            if home[0] == at:
                nodes[at].append(node)
                if key:
                    homes.setdefault(key, (at, len(nodes[at]) - 1))
            else:
                first = nodes[home[0]][home[1]]
                nodes[home[0]][home[1]] = replace(first, facts={**node.facts, **first.facts})
    return [
        (target, replace(reading, nodes=tuple(kept))) for (target, reading), kept in zip(readings, nodes, strict=True)
    ]


def _asked(node: NodeFacts) -> tuple[str, str] | None:
    """Which node of which server it is; None if it was read from no server."""
    engine = node.facts.get("engine")
    return (engine.seen.file, node.name) if engine and from_endpoint(engine.seen) else None


def merged(nodes: Sequence[NodeFacts]) -> tuple[list[NodeFacts], list[tuple[str, str]]]:
    """The nodes, what was read of one server in several places joined; and who stays apart, and why."""
    nodes, undecided_commands = with_commands(nodes)
    nodes, apart = with_saved(nodes)
    for kind in (_Kind.BOOTSTRAP, _Kind.MEASURED, _Kind.ASKED):
        nodes, undecided = _with(kind, nodes)
        apart += undecided
    standing = {node.name for node in nodes}
    return nodes, [*apart, *(note for note in undecided_commands if note[0] in standing)]


def _with(kind: _Kind, nodes: list[NodeFacts]) -> tuple[list[NodeFacts], list[tuple[str, str]]]:
    """The live nodes joined with those of that kind."""
    live = [index for index, node in enumerate(nodes) if _kind(node) is _Kind.LIVE]
    others = [index for index, node in enumerate(nodes) if _kind(node) is kind and not node.superseded]
    fitting = [_Pair(one, other) for one in live for other in others if _fit(nodes[one], nodes[other])]
    decided = [pair for pair in fitting if _alone(pair, fitting)]
    one = {pair.live: _joined(nodes[pair.live], nodes[pair.other]) for pair in decided}
    gone = {pair.other for pair in decided}
    kept = [one.get(index, node) for index, node in enumerate(nodes) if index not in gone]
    return kept, [*_apart(nodes, live, [other for other in others if other not in gone], fitting, set(one))]


def _kind(node: NodeFacts) -> _Kind:
    if not any(from_endpoint(fact.seen) for fact in node.facts.values()):
        return _Kind.MEASURED if node.fact("pool_tokens") or node.happenings else _Kind.ASKED
    is_bootstrap = node.fact("bootstrap_port") and not node.fact("port") and not node.fact("pool_tokens")
    return _Kind.BOOTSTRAP if is_bootstrap else _Kind.LIVE


def _alone(pair: _Pair, fitting: Sequence[_Pair]) -> bool:
    return sum(pair.live == one.live or pair.other == one.other for one in fitting) == 1


def _fit(live: NodeFacts, other: NodeFacts) -> bool:
    if differ(live, other, *IDENTITY) or hosts_differ(live, other):
        return False
    if _ports_agree(live, other):
        return True
    if differ(live, other, "bootstrap_port"):
        return False
    if agree(live, other, "bootstrap_port") or _called_alike(live, other):
        return True
    return agree(live, other, *_SAME_WITHOUT_PORT)


def _ports_agree(live: NodeFacts, other: NodeFacts) -> bool:
    """By what the server says; where it says none, the port at which it answered decides for, never against."""
    if live.fact("port"):
        return agree(live, other, "port")
    asked = {urlsplit(fact.seen.file).port for fact in live.facts.values() if from_endpoint(fact.seen)}
    return other.number("port") in asked - {None}


def _called_alike(one: NodeFacts, other: NodeFacts) -> bool:
    """A pod's name in its log is often its host's name in its address."""
    names = [name.partition(" ")[0].rpartition(":")[0] or name for name in (one.name, other.name)]
    return names[0] == names[1] and is_one_machine(names[0])


def _joined(live: NodeFacts, other: NodeFacts) -> NodeFacts:
    """Both in one: the live value where they differ, since that is what serves now."""
    return joined(live, other, _name(live, other))


def _name(live: NodeFacts, other: NodeFacts) -> str:
    same = _base(live.name) == _base(other.name) or _kind(other) is not _Kind.MEASURED
    return live.name if same else f"{other.name} ({live.name})"


def _base(name: str) -> str:
    """Without the target that told it apart from a node of its name, which may be the one that it is joined with."""
    return name.partition(" (")[0]


def _apart(
    nodes: Sequence[NodeFacts],
    live: Sequence[int],
    others: Sequence[int],
    fitting: Sequence[_Pair],
    decided: set[int],
) -> Iterator[tuple[str, str]]:
    """What may be one node and is reported as two."""
    for one in live:
        if one in decided:
            continue
        rivals = [pair.other for pair in fitting if pair.live == one]
        rivals = rivals or [other for other in others if _may(nodes[one], nodes[other])]
        if rivals:
            names = ", ".join(nodes[other].name for other in rivals)
            yield nodes[one].name, f"it may be the node of {names}: nothing decides it, so they are reported apart"


def _may(live: NodeFacts, other: NodeFacts) -> bool:
    return not differ(live, other, *IDENTITY) and not hosts_differ(live, other)
