"""Network policies of Kubernetes: whether what comes from outside the cluster is kept from a pod's port.

Only a policy that is understood whole closes anything. Selectors by expression are not decided, so they close nothing.
Source: Kubernetes' NetworkPolicy API, networking.k8s.io/v1: policies add up, an absent `from` or `ports` means all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kvfence.facts.fact import Way
from kvfence.facts.launch.containers import Around, documents_of
from kvfence.facts.launch.words import TEMPLATE
from kvfence.facts.launch.yaml_tree import Mapping, Scalar, Value

_FROM_OUTSIDE = frozenset({Way.LOAD_BALANCER, Way.NODE_PORT, Way.HOST_PORT})
"""Ways on which what arrives is no pod's; on the others it comes from a gateway, which may be a pod."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One that says something of what comes in."""

    name: str
    namespace: str
    labels: dict[str, str]
    rules: tuple[Mapping, ...]
    line: int


def policies(documents: Sequence[Value]) -> Iterator[Policy]:
    """The policies on what comes in whose pods are told by labels."""
    for document in documents_of(tuple(documents), "NetworkPolicy"):
        labels = _labels(document.mapping("spec", "podSelector"))
        types = {one.text for one in document.items("spec", "policyTypes") if isinstance(one, Scalar)}
        rules = tuple(one for one in document.items("spec", "ingress") if isinstance(one, Mapping))
        if labels is not None and (not types or "Ingress" in types):
            name, namespace = (document.text("metadata", key) or "" for key in ("name", "namespace"))
            yield Policy(name, namespace, labels, rules, document.line)


def closing(known: Sequence[Policy], around: Around, way: Way, port: str | None) -> Policy | None:
    """The policy that keeps out what comes that way to that port, if together they let none of it in."""
    chosen = [one for one in known if one.namespace == around.namespace and one.labels.items() <= around.labels.items()]
    if not chosen or way in {Way.HOST_NETWORK, Way.OWN_MACHINE}:
        return None
    rules = [rule for one in chosen for rule in one.rules if _is_of(rule, port)]
    return None if any(_lets_in(rule, way) for rule in rules) else chosen[0]


def _labels(selector: Mapping) -> dict[str, str] | None:
    """What a selector asks for; None where it cannot be told."""
    if set(selector.values) - {"matchLabels"}:
        return None
    labels = {key: one.text for key, one in selector.mapping("matchLabels").values.items() if isinstance(one, Scalar)}
    return None if any(TEMPLATE in text for text in labels.values()) else labels


def _is_of(rule: Mapping, port: str | None) -> bool:
    """Whether a rule may be of that port; by name, by a range or for all of them it may."""
    ports = [one for one in rule.items("ports") if isinstance(one, Mapping)]
    if port is None or not ports:
        return True
    return any(
        "endPort" in one.values or not (one.text("port") or "").isdecimal() or one.text("port") == port for one in ports
    )


def _lets_in(rule: Mapping, way: Way) -> bool:
    sources = rule.items("from")
    return not sources or any(not isinstance(one, Mapping) or _is_outside(one, way) for one in sources)


def _is_outside(source: Mapping, way: Way) -> bool:
    """Whether what comes that way may be this source: an address may; labels may be a gateway's, if they say little."""
    if "ipBlock" in source.values or not source.values.keys() & {"podSelector", "namespaceSelector"}:
        return True
    return way not in _FROM_OUTSIDE and (
        "namespaceSelector" in source.values or not _labels(source.mapping("podSelector"))
    )
