"""How a worker can be reached from outside: services, ingresses and routes of manifests, ports of compose and docker.

Only what stands in the files is seen, network policies among it. A firewall or a mesh in between is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kvfence.facts.fact import Fact, Way
from kvfence.facts.launch.arguments import Arguments
from kvfence.facts.launch.containers import Around, documents_of
from kvfence.facts.launch.words import TEMPLATE, Word
from kvfence.facts.launch.yaml_tree import Items, Mapping, Scalar, Value

_TYPES = {"LoadBalancer": Way.LOAD_BALANCER, "NodePort": Way.NODE_PORT}
_GATEWAYS = {
    "Ingress": Way.INGRESS,
    "HTTPRoute": Way.ROUTE,
    "GRPCRoute": Way.ROUTE,
    "TCPRoute": Way.ROUTE,
    "VirtualService": Way.ROUTE,
    "Route": Way.ROUTE,
}
_LOOPBACK = ("127.", "localhost", "[::1]", "::1")


@dataclass(frozen=True, slots=True)
class Service:
    """A service that outsiders reach, and by which line."""

    name: str
    namespace: str
    selector: dict[str, str]
    ports: tuple[str, ...]
    way: Way
    line: int
    text: str
    document: Mapping
    """The service itself; what opens it may stand elsewhere."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A way to a port of a container; no port means every one."""

    way: Way
    port: str | None
    line: int
    text: str


def services(roots: tuple[Value, ...]) -> list[Service]:
    """The services of files that are reached from outside: by their own type, or through an ingress or a route."""
    found = []
    routed = list(_routed(roots))
    for document in documents_of(roots, "Service"):
        name, namespace = (document.text("metadata", key) or "" for key in ("name", "namespace"))
        selector = {
            key: one.text for key, one in document.mapping("spec", "selector").values.items() if isinstance(one, Scalar)
        }
        ports = tuple(_service_ports(document))
        # A gateway first: it is also what hands requests on, which a service's own type is not.
        for way, at, gateway in routed:
            if at.text.partition(".")[0] == name:
                text = f"{gateway}: to service {name}"
                found.append(Service(name, namespace, selector, ports, way, at.line, text, document))
        kind = document.get("spec", "type")
        if isinstance(kind, Scalar) and kind.text in _TYPES:
            text = f"Service {name}: type: {kind.text}"
            found.append(Service(name, namespace, selector, ports, _TYPES[kind.text], kind.line, text, document))
    return found


def _service_ports(document: Mapping) -> Iterator[str]:
    for port in document.items("spec", "ports"):
        if isinstance(port, Mapping):
            yield port.text("targetPort") or port.text("port") or ""


def _routed(roots: tuple[Value, ...]) -> Iterator[tuple[Way, Scalar, str]]:
    for document in documents_of(roots, *_GATEWAYS):
        kind = document.text("kind") or ""
        called = f"{kind} {document.text('metadata', 'name') or ''}".strip()
        for name in _backends(document.mapping("spec")):
            yield _GATEWAYS[kind], name, called


def _backends(rules: Value) -> Iterator[Scalar]:
    """The services' names that a gateway's rules end in. Each value once: aliases share them."""
    waiting, seen = [rules], {id(rules)}
    while waiting:
        value = waiting.pop()
        below = list(value.values.values()) if isinstance(value, Mapping) else []
        if isinstance(value, Mapping):
            yield from _named_in(value)
        elif isinstance(value, Items):
            below = value.values
        waiting += [one for one in below if id(one) not in seen]
        seen |= {id(one) for one in below}


def _named_in(value: Mapping) -> Iterator[Scalar]:
    references = [ref.get("name") for ref in value.items("backendRefs") if isinstance(ref, Mapping)]
    paths = (("service", "name"), ("serviceName",), ("destination", "host"), ("to", "name"))
    for name in (*references, *(value.get(*path) for path in paths)):
        if isinstance(name, Scalar):
            yield name


def openings(fields: Mapping, around: Around, reached: Sequence[Service]) -> list[Opening]:
    """All ways to a container."""
    found = [
        _by_port(fields, service, port) for service in reached if selects(service, around) for port in service.ports
    ]
    for port in fields.items("ports"):
        found.extend(_compose_port(port))
        host_port = port.get("hostPort") if isinstance(port, Mapping) else None
        if isinstance(host_port, Scalar) and isinstance(port, Mapping):
            found.append(
                Opening(Way.HOST_PORT, port.text("containerPort"), host_port.line, f"hostPort: {host_port.text}")
            )
    network = fields.get("network_mode")
    if isinstance(network, Scalar) and network.text == "host":
        found.append(Opening(Way.HOST_NETWORK, None, network.line, "network_mode: host"))
    if around.host_network:
        found.append(Opening(Way.HOST_NETWORK, None, around.host_network.line, "hostNetwork: true"))
    return found


def selects(service: Service, around: Around) -> bool:
    """Whether a service's pods are these; of two templates nobody knows."""
    if service.namespace and around.namespace and service.namespace != around.namespace:
        return False
    is_known = bool(service.selector) and not any(TEMPLATE in text for text in service.selector.values())
    return is_known and service.selector.items() <= around.labels.items()


def _by_port(fields: Mapping, service: Service, port: str) -> Opening:
    named = (
        one.text("containerPort")
        for one in fields.items("ports")
        if isinstance(one, Mapping) and one.text("name") == port
    )
    return Opening(service.way, next(named, None) or port, service.line, service.text)


def _compose_port(port: Value) -> Iterator[Opening]:
    """`8000:8000`, `127.0.0.1:8000:8000`, `published:` and `target:`; a port alone is published at a random one."""
    if isinstance(port, Scalar):
        yield from _mapped(port.text, port.line)
    elif "target" in _texts(port) and not _texts(port).get("host_ip", "").startswith(_LOOPBACK):
        text = f"ports: {_texts(port).get('published', '')}:{_texts(port)['target']}"
        yield Opening(Way.HOST_PORT, _texts(port)["target"], port.line, text)


def _texts(value: Value) -> dict[str, str]:
    pairs = value.values.items() if isinstance(value, Mapping) else ()
    return {name: one.text for name, one in pairs if isinstance(one, Scalar)}


def _mapped(text: str, line: int) -> Iterator[Opening]:
    if text.startswith(_LOOPBACK):
        return
    inside = text.rpartition(":")[2].partition("/")[0]
    yield Opening(Way.HOST_PORT, inside if re.fullmatch(r"\d{1,5}", inside) else None, line, f"ports: {text}")


def docker_openings(before: Sequence[Word]) -> Iterator[Opening]:
    """What `docker run` publishes."""
    for index, word in enumerate(before):
        name, equals, given = word.text.partition("=")
        value = given if equals else before[index + 1].text if index + 1 < len(before) else ""
        if name in {"-p", "--publish"}:
            yield from (Opening(one.way, one.port, word.line, f"{name} {value}") for one in _mapped(value, word.line))
        elif name in {"--network", "--net"} and value == "host":
            yield Opening(Way.HOST_NETWORK, None, word.line, f"{name}={value}")


def published(facts: dict[str, Fact], found: Sequence[Opening], arguments: Arguments) -> dict[str, Fact]:
    """`published` and `bootstrap_published`, where an opening leads to that port. The first that does counts."""
    result: dict[str, Fact] = {}
    for fact, port in (("published", "port"), ("bootstrap_published", "bootstrap_port")):
        known = facts.get(port)
        if fact == "bootstrap_published" and known is None:
            continue
        for opening in found:
            is_there = opening.port is None or known is None or str(known.value) == opening.port
            if is_there and fact not in result:
                result[fact] = Fact(opening.way.value, arguments.evidence(opening.line, opening.text))
    return result
