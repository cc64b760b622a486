"""What the files around a worker say of it: services and gateways, ConfigMaps, network policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kvfence.facts.launch.config_maps import ConfigMaps
from kvfence.facts.launch.containers import Around, Container
from kvfence.facts.launch.exposure import Opening, Service, selects, services
from kvfence.facts.launch.network_policy import Policy, closing, policies
from kvfence.facts.launch.words import TEMPLATE
from kvfence.facts.launch.yaml_tree import Mapping

Identity = tuple[str, str, str]
"""Kind, namespace, name."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Those of one file."""

    services: list[Service]
    maps: ConfigMaps
    policies: tuple[Policy, ...]

    @classmethod
    def of(cls, own: Sequence[Mapping], others: Sequence[Mapping]) -> Neighbours:
        """From the objects of a file and of those that belong with it."""
        together = (*own, *others)
        return cls(services(together), ConfigMaps.of(own, others), tuple(policies(together)))

    def closing(self, around: Around, opening: Opening) -> Policy | None:
        """The policy that keeps out what comes through an opening, if one does."""
        return closing(self.policies, around, opening.way, opening.port)

    def open_without(self, seen: Sequence[Container]) -> Iterator[Service]:
        """The open services that select none of these."""
        return (one for one in self.services if not any(selects(one, container.around) for container in seen))


def objects_of(objects: Iterable[Mapping]) -> list[Identity]:
    """What they are; not those whose names a template gives."""
    found = [
        (one.text("kind") or "", *(one.text("metadata", key) or "" for key in ("namespace", "name"))) for one in objects
    ]
    return [
        (kind, namespace, name)
        for kind, namespace, name in found
        if kind and name and not any(TEMPLATE in part for part in (kind, namespace, name))
    ]
