"""Two readings of one server, made one; and what of a server's identity they agree on. No pair is chosen here."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

from kvfence.facts.fact import Differing, Fact, Happening, Kind, NodeFacts
from kvfence.facts.known_version import BOUNDS, EXACT, as_bound, denied
from kvfence.facts.kv_type import one_name
from kvfence.findings.finding import Evidence

IDENTITY = ("engine", "role", "model", "port")
_NOT_COMPARED = BOUNDS | {"host", "front_length"}
"""Bounds are no values, and are held against the version; a host is the name that each side has for it; two routers may
promise what they like."""
_SPELLED_FREELY = frozenset({"attention_backend", "transfer_backend", "quantization", "kv_dtype"})
"""An engine prints these in other letters than those in which they are asked for."""


def differ(one: NodeFacts, other: NodeFacts, *names: str) -> bool:
    """Whether both say something of one of these, and not the same."""
    pairs = ((one.fact(name), other.fact(name)) for name in names)
    return any(first is not None and second is not None and first.value != second.value for first, second in pairs)


def agree(one: NodeFacts, other: NodeFacts, *names: str) -> bool:
    """Whether both say the same of each of these."""
    pairs = ((one.fact(name), other.fact(name)) for name in names)
    return all(first is not None and second is not None and first.value == second.value for first, second in pairs)


def hosts_differ(one: NodeFacts, other: NodeFacts) -> bool:
    """Whether both name an address that is only one machine's, and not the same."""
    hosts = {host for node in (one, other) if (host := node.text("host")) and is_one_machine(host)}
    return len(hosts) > 1


def is_one_machine(host: str) -> bool:
    """Whether that name or address is not every machine's own."""
    try:
        address = ip_address(host)
    except ValueError:
        return host not in {"localhost", ""}
    return not address.is_loopback and not address.is_unspecified


def from_endpoint(seen: Evidence) -> bool:
    """Whether a running server said it."""
    return seen.line is None and "://" in seen.file


def joined(kept: NodeFacts, other: NodeFacts, name: str) -> NodeFacts:
    """Both in one, under that name: the value of `kept` where they differ, and the other beside it."""
    facts = dict(other.facts) | dict(kept.facts)
    for fact in kept.facts.keys() & other.facts.keys():
        first, second = kept.facts[fact], other.facts[fact]
        if _same(fact, first, second):
            facts[fact] = replace(first, also=tuple(dict.fromkeys((*first.also, second.seen, *second.also))))
    # What `other` already differed in is judged by what the node says now.
    against = [(fact, second) for fact, second in other.facts.items() if fact in kept.facts]
    against += [(one.name, one.other) for one in other.differing]
    differing = [
        Differing(fact, facts[fact], second)
        for fact, second in against
        if fact not in _NOT_COMPARED and not _same(fact, facts[fact], second)
    ]
    differing += [Differing(EXACT, facts[EXACT], as_bound(bound, fact)) for bound, fact in denied(facts).items()]
    return replace(
        kept,
        name=name,
        facts=facts,
        happenings=_happened(kept, other),
        differing=tuple(sorted(dict.fromkeys((*kept.differing, *differing)), key=lambda one: one.name)),
    )


def _happened(kept: NodeFacts, other: NodeFacts) -> dict[Kind, Happening]:
    """Of what both tell, who has counted more of it; of two that agree the log, whose lines name requests."""
    both = {**kept.happenings, **other.happenings}
    return {kind: max((one.happenings.get(kind, both[kind]) for one in (kept, other)), key=_weight) for kind in both}


def _weight(happening: Happening) -> tuple[int, bool]:
    return happening.count, happening.seen[0].line is not None


def _same(name: str, one: Fact, other: Fact) -> bool:
    """Whether both values mean the same, however they are written."""
    if one.value == other.value:
        return True
    if name == "mem_fraction":
        return _number(one) == _number(other)
    return name in _SPELLED_FREELY and _plainly(one) == _plainly(other)


def _plainly(fact: Fact) -> str:
    return one_name(str(fact.value).casefold())


def _number(fact: Fact) -> float | str:
    try:
        return float(fact.value)
    except ValueError:
        return str(fact.value)
