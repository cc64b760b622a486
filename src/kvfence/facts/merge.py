"""A node that was read twice, from its log and from its endpoint, made one; what cannot be decided stays two.

Two readings are of one node when nothing that they both say of its identity differs (engine, role, model, port, a host
where both name one, a bootstrap port where no port decides), something that can only be one server's agrees (its port,
or its host's name), and no third reading fits as well. On no port at all they are one only if role, pool and context
agree: then nothing hangs on it. A log does not prove that it is of the server that answers now, so what the two differ
in is kept beside the facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from ipaddress import ip_address
from urllib.parse import urlsplit

from kvfence.facts.fact import Differing, NodeFacts
from kvfence.facts.reading import Reading
from kvfence.findings.finding import Evidence

_IDENTITY = ("engine", "role", "model", "port")
_SAME_WITHOUT_PORT = ("role", "pool_tokens", "context_length")
_NOT_COMPARED = frozenset({"engine_version_min", "engine_version_max", "host"})
"""Bounds are no values; a host is the name that each side has for it."""


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
    return (engine.seen.file, node.name) if engine and _from_endpoint(engine.seen) else None


def merged(nodes: Sequence[NodeFacts]) -> tuple[list[NodeFacts], list[tuple[str, str]]]:
    """The nodes, those read from an endpoint joined with what else was read of them; and who stays apart, and why."""
    nodes = list(nodes)
    apart: list[tuple[str, str]] = []
    for kind in (_Kind.BOOTSTRAP, _Kind.MEASURED, _Kind.ASKED):
        nodes, undecided = _with(kind, nodes)
        apart += undecided
    return nodes, apart


def _with(kind: _Kind, nodes: list[NodeFacts]) -> tuple[list[NodeFacts], list[tuple[str, str]]]:
    """The live nodes joined with those of that kind."""
    live = [index for index, node in enumerate(nodes) if _kind(node) is _Kind.LIVE]
    others = [index for index, node in enumerate(nodes) if _kind(node) is kind and not node.superseded]
    fitting = [_Pair(one, other) for one in live for other in others if _fit(nodes[one], nodes[other])]
    decided = [pair for pair in fitting if _alone(pair, fitting)]
    joined = {pair.live: _join(nodes[pair.live], nodes[pair.other]) for pair in decided}
    gone = {pair.other for pair in decided}
    kept = [joined.get(index, node) for index, node in enumerate(nodes) if index not in gone]
    return kept, [*_apart(nodes, live, [other for other in others if other not in gone], fitting, set(joined))]


def _kind(node: NodeFacts) -> _Kind:
    if not any(_from_endpoint(fact.seen) for fact in node.facts.values()):
        return _Kind.MEASURED if node.fact("pool_tokens") or node.happenings else _Kind.ASKED
    is_bootstrap = node.fact("bootstrap_port") and not node.fact("port") and not node.fact("pool_tokens")
    return _Kind.BOOTSTRAP if is_bootstrap else _Kind.LIVE


def _from_endpoint(seen: Evidence) -> bool:
    return seen.line is None and "://" in seen.file


def _alone(pair: _Pair, fitting: Sequence[_Pair]) -> bool:
    return sum(pair.live == one.live or pair.other == one.other for one in fitting) == 1


def _fit(live: NodeFacts, other: NodeFacts) -> bool:
    if any(_differ(live, other, name) for name in _IDENTITY) or _hosts_differ(live, other):
        return False
    if _ports_agree(live, other):
        return True
    if _differ(live, other, "bootstrap_port"):
        return False
    if _agree(live, other, "bootstrap_port") or _called_alike(live, other):
        return True
    return all(_agree(live, other, name) for name in _SAME_WITHOUT_PORT)


def _differ(one: NodeFacts, other: NodeFacts, name: str) -> bool:
    first, second = one.fact(name), other.fact(name)
    return first is not None and second is not None and first.value != second.value


def _agree(one: NodeFacts, other: NodeFacts, name: str) -> bool:
    first, second = one.fact(name), other.fact(name)
    return first is not None and second is not None and first.value == second.value


def _ports_agree(live: NodeFacts, other: NodeFacts) -> bool:
    """By what the server says; where it says none, the port at which it answered decides for, never against."""
    if live.fact("port"):
        return _agree(live, other, "port")
    asked = {urlsplit(fact.seen.file).port for fact in live.facts.values() if _from_endpoint(fact.seen)}
    return other.number("port") in asked - {None}


def _hosts_differ(one: NodeFacts, other: NodeFacts) -> bool:
    """Whether both name an address that is only one machine's, and not the same."""
    hosts = {host for node in (one, other) if (host := node.text("host")) and _is_one_machine(host)}
    return len(hosts) > 1


def _is_one_machine(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return host not in {"localhost", ""}
    return not address.is_loopback and not address.is_unspecified


def _called_alike(one: NodeFacts, other: NodeFacts) -> bool:
    """A pod's name in its log is often its host's name in its address."""
    names = [name.partition(" ")[0].rpartition(":")[0] or name for name in (one.name, other.name)]
    return names[0] == names[1] and _is_one_machine(names[0])


def _join(live: NodeFacts, other: NodeFacts) -> NodeFacts:
    """Both in one: the live value where they differ, since that is what serves now."""
    facts = dict(other.facts) | dict(live.facts)
    differing = []
    for name in live.facts.keys() & other.facts.keys():
        kept, second = live.facts[name], other.facts[name]
        if kept.value == second.value:
            facts[name] = replace(kept, also=tuple(dict.fromkeys((*kept.also, second.seen, *second.also))))
        elif name not in _NOT_COMPARED:
            differing.append(Differing(name, kept, second))
    return replace(
        live,
        name=_name(live, other),
        facts=facts,
        happenings={**other.happenings, **live.happenings},
        differing=tuple(sorted(differing, key=lambda one: one.name)),
    )


def _name(live: NodeFacts, other: NodeFacts) -> str:
    same = live.name == other.name or _kind(other) is not _Kind.MEASURED
    return live.name if same else f"{other.name} ({live.name})"


def _apart(
    nodes: Sequence[NodeFacts],
    live: Sequence[int],
    others: Sequence[int],
    fitting: Sequence[_Pair],
    joined: set[int],
) -> Iterator[tuple[str, str]]:
    """What may be one node and is reported as two."""
    for one in live:
        if one in joined:
            continue
        rivals = [pair.other for pair in fitting if pair.live == one]
        rivals = rivals or [other for other in others if _may(nodes[one], nodes[other])]
        if rivals:
            names = ", ".join(nodes[other].name for other in rivals)
            yield nodes[one].name, f"it may be the node of {names}: nothing decides it, so they are reported apart"


def _may(live: NodeFacts, other: NodeFacts) -> bool:
    return not any(_differ(live, other, name) for name in _IDENTITY) and not _hosts_differ(live, other)
