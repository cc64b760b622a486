"""Compose files, Kubernetes manifests and charts' values, from text to nodes with facts.

Manifests that are given together are read together: a service, a ConfigMap or a network policy of one file belongs to a
worker of another, unless the two are variants of one another (`variants`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kvfence.errors import TargetError
from kvfence.facts.fact import Fact, NodeFacts
from kvfence.facts.launch.arguments import Arguments
from kvfence.facts.launch.beside import Beside
from kvfence.facts.launch.composed import changed_elsewhere
from kvfence.facts.launch.container_command import ContainerCommand
from kvfence.facts.launch.containers import Container, containers
from kvfence.facts.launch.exposure import Opening, openings, published
from kvfence.facts.launch.front import ask_of
from kvfence.facts.launch.neighbours import Neighbours, objects_of
from kvfence.facts.launch.places import Places
from kvfence.facts.launch.server_facts import facts_of
from kvfence.facts.launch.servers import Router, Server, found_in, is_router_image
from kvfence.facts.launch.variants import Variants
from kvfence.facts.launch.words import Word
from kvfence.facts.launch.yaml_tree import Documents, Mapping, Scalar, read_yaml
from kvfence.facts.read_log import numbered
from kvfence.facts.reading import Reading

SERVERS_MAX = 256
_RENDER = "render the chart first: helm template CHART -f VALUES | kvfence audit -"
NO_SERVER = f"no command that starts SGLang or vLLM stands in it; if these are a chart's values, {_RENDER}"
"""The gap of a file in which none was found."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A YAML file that was read, and not yet understood."""

    text: str
    file: str
    folder: Path | None
    """Where files that it names are looked for."""
    name: str
    """What a server is called that nothing in it names."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A manifest as values, with its lines in the common count."""

    manifest: Manifest
    documents: Documents
    containers: tuple[Container, ...]
    exhausted: bool
    objects: tuple[Mapping, ...]


def read_manifest(manifest: Manifest) -> Reading:
    """The servers that one YAML file starts.

    Raises:
        TargetError: it is no YAML.
    """
    (reading,) = read_manifests([manifest])
    if isinstance(reading, TargetError):
        raise reading
    return reading


def read_manifests(manifests: Sequence[Manifest]) -> list[Reading | TargetError]:
    """The servers that each of these files starts, each seen with the others; or why one of them is no YAML."""
    places = Places.together([one.file for one in manifests], [one.text.count("\n") + 1 for one in manifests])
    read = [_read(one, first) for one, first in zip(manifests, places.firsts, strict=True)]
    whole = [one for one in read if isinstance(one, _Read)]
    variants = Variants.of([one.manifest.file for one in whole], [objects_of(one.objects) for one in whole])
    around = {
        id(one): [other for other in whole if other is one or variants.meet(one.manifest.file, other.manifest.file)]
        for one in whole
    }
    run: set[Scalar] = set()
    files = [
        one if isinstance(one, TargetError) else _File(one, around[id(one)], replace(places, home=one.manifest.file))
        for one in read
    ]
    for file in files:
        if isinstance(file, _File):
            file.start_containers()
            run |= file.commands.run
    return [file.reading(run) if isinstance(file, _File) else file for file in files]


def _read(manifest: Manifest, first_line: int) -> _Read | TargetError:
    try:
        documents = read_yaml(manifest.text, manifest.file, first_line)
    except TargetError as error:
        return error
    found, exhausted = containers(documents.roots)
    roots = [root for root in documents.roots if isinstance(root, Mapping)]
    objects = [one for root in roots for one in root.items("items") or [root] if isinstance(one, Mapping)]
    return _Read(manifest, documents, tuple(found), exhausted, tuple(objects))


class _File:
    """One file while its servers are made."""

    def __init__(self, read: _Read, around: Sequence[_Read], places: Places) -> None:
        self.read, self.places = read, places
        self.others = [one for one in around if one is not read]
        self.neighbours = Neighbours.of(read.objects, [one for other in self.others for one in other.objects])
        self.commands = ContainerCommand(
            read.manifest.text.splitlines(),
            folder=read.manifest.folder,
            compose=_is_compose(read.documents),
            places=places,
            maps=self.neighbours.maps,
        )
        self.nodes: list[NodeFacts] = []
        self.gaps: list[str] = []
        self.notes: list[str] = []

    def start_containers(self) -> None:
        """What its containers start; then it is known which scripts they run."""
        for container in self.read.containers:
            if container.script is None:
                found = list(found_in(self.commands.of(container.fields, container.around)))
                image = container.fields.get("image")
                if not found and isinstance(image, Scalar) and is_router_image(image.text):
                    found = [Router(Word(image.text, image.line), image.text.rpartition("/")[2].partition(":")[0])]
                self._take(found, container)

    def reading(self, run: set[Scalar]) -> Reading:
        """All of it. `run` are the texts that some container runs: they are no servers of their own."""
        for container in self.read.containers:
            if container.script is not None and container.script not in run:
                self._take(list(found_in(self.commands.script(container.script))), container)
        names = numbered(node.name for node in self.nodes)
        nodes = [replace(node, name=unique) for node, unique in zip(self.nodes, names, strict=True)]
        is_run = any(container.script in run for container in self.read.containers)
        gaps = [*self.gaps, *self.commands.gaps, *changed_elsewhere(self.read.documents.roots, self.places)]
        gaps += [*_left_out(self.read, servers=len(nodes) + is_run), *self._unmatched()]
        notes = [*self.notes, *(self.commands.notes if nodes else [])]
        notes += ["what its script starts is told of those that run it"] if is_run and not nodes else []
        return Reading(tuple(nodes), tuple(dict.fromkeys(gaps)), tuple(dict.fromkeys(notes)))

    def _take(self, found: Sequence[Server | Router], container: Container) -> None:
        for one in found:
            if isinstance(one, Router):
                self.gaps.append(ask_of(one, self.places))
            elif len(self.nodes) < SERVERS_MAX:
                self._node(one, container)

    def _node(self, server: Server, container: Container) -> None:
        around, manifest = container.around, self.read.manifest
        mounted = {path: one.text for path, one in self.neighbours.maps.mounted(container.fields, around).items()}
        beside = Beside(manifest.folder, mounted)
        launched = facts_of(server, places=self.places, beside=beside, closed=not self.read.documents.templates)
        arguments = Arguments.of(server.engine, server.arguments, self.places)
        rank = arguments.text("node_rank")
        if around.follower or (rank and rank.isdigit() and int(rank) > 0):
            where = self.places.told(server.start.line)
            if not around.follower:
                self.gaps.append(f"{where}: rank {rank} of a server; its first rank is the one to read")
            return
        facts = dict(launched.facts)
        if "role" not in facts and around.role and not container.script and arguments.has("kv_transfer_config"):
            facts["role"] = Fact(around.role.text, arguments.evidence(around.role.line, around.role.text))
        facts |= self._published(facts, container, arguments)
        self.nodes.append(NodeFacts(name=around.name or manifest.name, facts=facts, planned=True))
        self.gaps += launched.gaps

    def _published(self, facts: dict[str, Fact], container: Container, arguments: Arguments) -> dict[str, Fact]:
        """Who can reach it, but for what a network policy keeps out, which is told."""
        found = openings(container.fields, container.around, self.neighbours.services)
        kept: list[Opening] = []
        for opening in found:
            policy = self.neighbours.closing(container.around, opening)
            if policy is None:
                kept.append(opening)
            elif published(facts, [opening], arguments):
                self.notes.append(
                    f"{self.places.told(opening.line)}: {opening.text} leads to a worker, and NetworkPolicy "
                    f"{policy.name} ({self.places.told(policy.line)}) lets nothing in from outside; no file shows "
                    "whether the cluster's network enforces it: try the port from outside"
                )
        return published(facts, kept, arguments)

    def _unmatched(self) -> Iterator[str]:
        """Services of this file that are open and of which no pod is seen."""
        seen = [container for one in (self.read, *self.others) for container in one.containers]
        for service in self.neighbours.open_without(seen):
            if any(service.document is one for one in self.read.objects):
                yield (
                    f"{self.places.told(service.line)}: service {service.name} is open to the outside ({service.way}) "
                    f"and selects pods that are in no file that was read; whether it leads to a worker was not decided"
                )


def _is_compose(documents: Documents) -> bool:
    return any(
        isinstance(root, Mapping) and "services" in root.values and "kind" not in root.values
        for root in documents.roots
    )


def _left_out(read: _Read, *, servers: int) -> Iterator[str]:
    documents = read.documents
    if documents.broken:
        yield f"not read behind {documents.broken}"
    if read.exhausted:
        yield "its aliases make it too large to be looked through whole"
    if documents.templates:
        count = documents.templates
        yield f"{count} templates ({{{{ }}}}) are filled in elsewhere, so what they give is not known; {_RENDER}"
    elif not servers:
        yield NO_SERVER
