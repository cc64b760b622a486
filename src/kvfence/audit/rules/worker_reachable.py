"""A prefill or decode worker can be reached by others than its router.

## What it says

The files that launch a worker also open its port, or its bootstrap port, to the outside: a service of type
LoadBalancer or NodePort, an ingress or a route, a port of compose or docker on every address, the host's network. Or a
script binds it to every address of its machine, which a firewall may or may not close.

Manifests that are audited together are read together. A network policy that lets nothing in from outside ends the
finding, and is told: whether the cluster's network enforces it no file shows.

## Why it matters

A request tells a worker where its KV comes from. Whoever reaches decode sets these fields himself. On SGLang up to
0.5.23, `bootstrap_host: "2.2.2.2"` makes decode generate over pages that nobody wrote: it was run, and the answer held
other requests' text. On vLLM, decode believes the block numbers in `kv_transfer_params`. The bootstrap port asks for no
key and lets anybody register. A key (`--api-key`) keeps strangers out, not the customers who have one.

## How bad

Critical for decode, high for prefill and for a bootstrap port; high for decode where an API key is asked for.

How sure: high for what is opened by name; medium for the host's network; low where only the address is known.

## What ends it

Let only the router reach workers: `--host` on an inner address, ClusterIP and a network policy, ports on 127.0.0.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, role_of
from kvfence.facts.fact import NodeFacts, Role, Way
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "worker-reachable"
CODE = "KVF401"
_PORTS = (("published", "port", "port"), ("bootstrap_published", "bootstrap port", "bootstrap_port"))
_LOOPBACK = ("127.", "localhost", "::1", "[::1]")
_CONFIDENCE = {Way.HOST_NETWORK: Confidence.MEDIUM, Way.OWN_MACHINE: Confidence.LOW}
_WORDS = {
    Way.LOAD_BALANCER: "a load balancer leads to it",
    Way.NODE_PORT: "a port of every node of the cluster leads to it",
    Way.INGRESS: "an ingress leads to it",
    Way.ROUTE: "a gateway's route leads to it",
    Way.HOST_PORT: "its host publishes it on every address",
    Way.HOST_NETWORK: "it shares its host's network",
    Way.OWN_MACHINE: "it listens on every address of its machine",
}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each worker of a pair that is open."""
    for node in deployment.nodes:
        role = role_of(node)
        if role not in {Role.PREFILL, Role.DECODE} or (node.text("host") or "").startswith(_LOOPBACK):
            continue
        ways = {name: Way(text) for name in ("published", "bootstrap_published") if (text := node.text(name))}
        if role is Role.DECODE:
            ways.pop("bootstrap_published", None)
        if ways:
            yield _finding(node, ways)


def _finding(node: NodeFacts, ways: dict[str, Way]) -> Finding:
    way = ways.get("published") or ways["bootstrap_published"]
    key = node.fact("api_key")
    is_decode = role_of(node) is Role.DECODE
    return Finding(
        rule=ID,
        severity=Severity.CRITICAL if is_decode and not key else Severity.HIGH,
        confidence=_CONFIDENCE.get(way, Confidence.HIGH),
        node=node.name,
        message=f"{_what(node, ways)}: {_WORDS[way]}. {_consequence(is_decode=is_decode, has_key=key is not None)}",
        evidence=node.evidence("published", "bootstrap_published", "host", "port", "bootstrap_port", "api_key"),
        fix="Let only the router reach it: --host on an inner address, a ClusterIP service and a network policy, ports "
        "published on 127.0.0.1 only.",
    )


def _what(node: NodeFacts, ways: dict[str, Way]) -> str:
    role = node.text("role")
    ports = [
        f"{word} {number}" if (number := node.number(fact)) is not None else word
        for name, word, fact in _PORTS
        if name in ways
    ]
    return f"The {' and the '.join(ports)} of this {role} worker can be reached from outside"


def _consequence(*, is_decode: bool, has_key: bool) -> str:
    who = "Whoever has a key" if has_key else "Whoever reaches it"
    if is_decode:
        return f"{who} can name a prefill that does not exist, and read what other requests left in its pages."
    return f"{who} can take part in handoffs that are not his."
