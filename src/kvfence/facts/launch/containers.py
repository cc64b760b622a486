"""Containers in Kubernetes manifests, compose files and charts' values: whatever has a command, wherever it stands.

Kinds are not listed: a Deployment, a LeaderWorkerSet, a RoleBasedGroup, a StormService and a DynamoGraphDeployment all
hold, somewhere, a mapping with `command`, `args` or an image that is a server. What stands around it names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kvfence.facts.launch.servers import MENTIONS, is_router_image, is_vllm_image
from kvfence.facts.launch.words import TEMPLATE
from kvfence.facts.launch.yaml_tree import Items, Mapping, Scalar, Value

VISITS_MAX = 200_000
"""Aliases share values, so a short file may be a very large tree."""
_NOT_LAUNCHED = frozenset({"annotations", "status", "lifecycle", "readinessProbe", "livenessProbe", "startupProbe"})
_HEALTH = frozenset({"healthcheck", "test"})
_COMMANDS = ("command", "args", "entrypoint")
_ROLES = frozenset({"prefill", "decode"})
_LWS_NAME = "leaderworkerset.sigs.k8s.io/name"


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of a container from where it stands."""

    document: str = ""
    names: tuple[str, ...] = ()
    namespace: str = ""
    """As it is written; empty where whoever applies it says which."""
    labels: dict[str, str] = field(default_factory=dict)
    volumes: dict[str, Mapping] = field(default_factory=dict)
    """By name: what a pod has at hand to be mounted."""
    role: Scalar | None = None
    host_network: Scalar | None = None
    follower: bool = False
    """Of a group's ranks behind the first: the same server, not another one."""

    @property
    def name(self) -> str:
        """The document's name and the innermost one."""
        parts = [part for part in (self.document, *self.names[-1:]) if part]
        return "/".join(dict.fromkeys(parts)).replace(TEMPLATE, "{{…}}")


@dataclass(frozen=True, slots=True)
class Container:
    """A mapping that starts something, or a text that does."""

    fields: Mapping
    around: Around
    script: Scalar | None = None
    """Set where it is a text that holds a script, rather than a container."""


class _Exhausted(Exception):  # noqa: N818 — what was found before stands
    pass


@dataclass(slots=True)
class Walk:
    """One way through a file's values."""

    found: list[Container] = field(default_factory=list)
    visits: int = 0
    exhausted: bool = False

    def through(self, root: Value) -> None:
        """Find the containers below one document."""
        around = Around()
        if isinstance(root, Mapping):
            around = replace(
                around,
                document=root.text("metadata", "name") or "",
                namespace=root.text("metadata", "namespace") or "",
            )
        try:
            self._visit(root, around, "")
        except _Exhausted:
            self.exhausted = True

    def _visit(self, value: Value, around: Around, key: str) -> None:
        self.visits += 1
        if self.visits > VISITS_MAX:
            raise _Exhausted
        match value:
            case Mapping():
                self._mapping(value, _inside(value, around, key), key)
            case Items():
                for one in value.values:
                    self._visit(one, around, key)
            case Scalar() if MENTIONS.search(value.text):
                self.found.append(Container(Mapping(), around, value))
            case _:
                return

    def _mapping(self, value: Mapping, around: Around, key: str) -> None:
        if _is_container(value):
            self.found.append(Container(value, around))
            skipped = {*_NOT_LAUNCHED, *_COMMANDS, *_HEALTH}
        else:
            skipped = set(_NOT_LAUNCHED)
        leads = "leaderTemplate" in value.values
        for name, below in value.values.items():
            # In compose files `x-…` holds what is only merged elsewhere.
            if name not in skipped and not (key == "" and name.startswith("x-")):
                named = _named_by_key(around, name, key, below)
                self._visit(below, replace(named, follower=True) if leads and name == "workerTemplate" else named, name)


def _is_container(value: Mapping) -> bool:
    image = value.text("image") or ""
    if is_vllm_image(image) or is_router_image(image):
        return True
    return any(isinstance(value.get(name), Items | Scalar) for name in _COMMANDS)


def _inside(value: Mapping, around: Around, key: str) -> Around:
    """What a mapping says of all that stands in it."""
    name = value.text("name")
    if name and key in {"roles", "containers", "initContainers", "modelSpec"}:
        around = replace(around, names=(*around.names, name))
    if name in _ROLES and key == "roles":
        named = value.get("name")
        around = replace(around, role=named if isinstance(named, Scalar) else None)
    labels = value.mapping("metadata", "labels") if "spec" in value.values else Mapping()
    if labels.values:
        texts = {name: label.text for name, label in labels.values.items() if isinstance(label, Scalar)}
        around = replace(around, labels={**around.labels, **texts}, role=_labelled(labels) or around.role)
    if value.text("kind") == "LeaderWorkerSet":
        around = replace(around, labels={**around.labels, _LWS_NAME: around.document})
    component = value.get("subComponentType")
    if isinstance(component, Scalar) and component.text in _ROLES:
        around = replace(around, role=component)
    volumes = {one.text("name") or "": one for one in value.items("volumes") if isinstance(one, Mapping)}
    if volumes:
        around = replace(around, volumes={**around.volumes, **volumes})
    network = value.get("hostNetwork")
    if isinstance(network, Scalar) and network.text.lower() == "true":
        around = replace(around, host_network=network)
    return around


def _labelled(labels: Mapping) -> Scalar | None:
    found = (
        label
        for name, label in labels.values.items()
        if name.rpartition("/")[2] in {"role", "role-name"} and isinstance(label, Scalar) and label.text in _ROLES
    )
    return next(found, None)


def _named_by_key(around: Around, name: str, key: str, below: Value) -> Around:
    """Services of a compose file, and components of some kinds, are named by their key."""
    if key != "services" or not isinstance(below, Mapping):
        return around
    return replace(around, names=(*around.names, name))


def containers(roots: tuple[Value, ...]) -> tuple[list[Container], bool]:
    """All containers of a file's documents, and whether it was too large to look through."""
    walk = Walk()
    for root in roots:
        walk.through(root)
    return walk.found, walk.exhausted


def documents_of(roots: tuple[Value, ...], *kinds: str) -> Iterator[Mapping]:
    """The documents of these kinds, also inside a `List`."""
    for root in roots:
        if isinstance(root, Mapping):
            if root.text("kind") in kinds:
                yield root
            for item in root.items("items"):
                if isinstance(item, Mapping) and item.text("kind") in kinds:
                    yield item
