"""Compose files, Kubernetes manifests and charts' values, from text to nodes with facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kvfence.facts.fact import Fact, NodeFacts
from kvfence.facts.launch.arguments import Arguments
from kvfence.facts.launch.container_command import ContainerCommand
from kvfence.facts.launch.containers import Container, containers
from kvfence.facts.launch.exposure import Service, openings, published, selects, services
from kvfence.facts.launch.front import ask_of
from kvfence.facts.launch.server_facts import facts_of
from kvfence.facts.launch.servers import Router, Server, found_in, is_router_image
from kvfence.facts.launch.words import Word
from kvfence.facts.launch.yaml_tree import Documents, Mapping, Scalar, read_yaml
from kvfence.facts.read_log import numbered
from kvfence.facts.reading import Reading

SERVERS_MAX = 256
_RENDER = "render the chart first: helm template CHART -f VALUES | kvfence audit -"
NO_SERVER = f"no command that starts SGLang or vLLM stands in it; if these are a chart's values, {_RENDER}"
"""The gap of a file in which none was found."""


def read_manifest(text: str, *, file: str, folder: Path | None, name: str) -> Reading:
    """The servers that a YAML file starts.

    Raises:
        TargetError: it is no YAML.
    """
    documents = read_yaml(text, file)
    found, exhausted = containers(documents.roots)
    compose = any(
        isinstance(root, Mapping) and "services" in root.values and "kind" not in root.values
        for root in documents.roots
    )
    commands = ContainerCommand(text.splitlines(), folder=folder, compose=compose)
    reached = services(documents.roots)
    nodes: list[NodeFacts] = []
    gaps: list[str] = []
    for container in found:
        for one in _started(container, commands):
            if isinstance(one, Router):
                gaps.append(ask_of(one))
            elif len(nodes) < SERVERS_MAX:
                node, more = _node(
                    one,
                    container,
                    reached,
                    file=file,
                    folder=folder,
                    fallback=name,
                    templated=bool(documents.templates),
                )
                nodes += [node] if node else []
                gaps += more
    names = numbered(node.name for node in nodes)
    gaps = [
        *gaps,
        *commands.gaps,
        *_left_out(documents, exhausted=exhausted, servers=len(nodes)),
        *_unmatched(reached, found),
    ]
    nodes = [replace(node, name=unique) for node, unique in zip(nodes, names, strict=True)]
    return Reading(tuple(nodes), tuple(dict.fromkeys(gaps)))


def _started(container: Container, commands: ContainerCommand) -> Iterator[Server | Router]:
    if container.script:
        yield from found_in(commands.script(container.script))
        return
    found = list(found_in(commands.of(container.fields)))
    image = container.fields.get("image")
    if not found and isinstance(image, Scalar) and is_router_image(image.text):
        found = [Router(Word(image.text, image.line), image.text.rpartition("/")[2].partition(":")[0])]
    yield from found


def _node(
    server: Server,
    container: Container,
    reached: Sequence[Service],
    *,
    file: str,
    folder: Path | None,
    fallback: str,
    templated: bool,
) -> tuple[NodeFacts | None, list[str]]:
    around = container.around
    launched = facts_of(server, file=file, folder=folder, closed=not templated)
    arguments = Arguments.of(server.engine, server.arguments, file)
    rank = arguments.text("node_rank")
    if around.follower or (rank and rank.isdigit() and int(rank) > 0):
        where = f"line {server.start.line}"
        return None, [] if around.follower else [f"{where}: rank {rank} of a server; its first rank is the one to read"]
    facts = dict(launched.facts)
    if "role" not in facts and around.role and not container.script and arguments.has("kv_transfer_config"):
        facts["role"] = Fact(around.role.text, arguments.evidence(around.role.line, around.role.text))
    facts |= published(facts, openings(container.fields, around, reached), arguments)
    return NodeFacts(name=around.name or fallback, facts=facts, planned=True), list(launched.gaps)


def _left_out(documents: Documents, *, exhausted: bool, servers: int) -> Iterator[str]:
    if documents.broken:
        yield f"not read behind {documents.broken}"
    if exhausted:
        yield "its aliases make it too large to be looked through whole"
    if documents.templates:
        count = documents.templates
        yield f"{count} templates ({{{{ }}}}) are filled in elsewhere, so what they give is not known; {_RENDER}"
    elif not servers:
        yield NO_SERVER


def _unmatched(reached: Sequence[Service], found: Sequence[Container]) -> Iterator[str]:
    for service in reached:
        if not any(selects(service, container.around) for container in found):
            yield (
                f"line {service.line}: service {service.name} is open to the outside ({service.way}) and selects pods "
                "that are not in this file; whether it leads to a worker was not decided"
            )
