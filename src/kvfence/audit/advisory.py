"""Known faults of releases, as OSV records, and whether one of them is a node's. The records are `advisories/*.json`.

A version is decided where the node's own, or its bounds, stand on one side of the fix. Pre-releases of the fixing
version are not decided. What a record needs besides and no source shows is not decided either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from kvfence.audit.deployment import engine_of, role_of
from kvfence.facts.fact import Engine, NodeFacts
from kvfence.facts.known_version import Exactly, ends, is_older, known_version
from kvfence.findings.finding import Confidence, Severity
from kvfence.findings.source_tree import FixVerdict, SourceTree

_PACKAGES = {Engine.SGLANG: "sglang", Engine.VLLM: "vllm"}
_PRE_RELEASE = re.compile(r"\d\.?(?:a|b|rc|dev)\d*")


class _Reference(msgspec.Struct, frozen=True):
    url: str


class _Event(msgspec.Struct, frozen=True):
    introduced: str | None = None
    fixed: str | None = None


class _Range(msgspec.Struct, frozen=True):
    events: tuple[_Event, ...]


class _Package(msgspec.Struct, frozen=True):
    name: str


class _Affected(msgspec.Struct, frozen=True):
    package: _Package
    ranges: tuple[_Range, ...]


class _Read(msgspec.Struct, frozen=True):
    oldest: str | None = None
    newest: str | None = None


class _Specific(msgspec.Struct, frozen=True):
    roles: dict[str, Severity]
    read: _Read
    covered_by: tuple[str, ...] = ()
    connectors: tuple[str, ...] = ()
    needs: str | None = None
    needs_fact: str | None = None
    advice: str | None = None
    ended_by: tuple[tuple[str, ...], ...] = ()
    part_of_end: tuple[str, ...] = ()


class Advisory(msgspec.Struct, frozen=True):
    """One record, as far as the rule asks it; OSV's other fields are for those who read it."""

    id: str
    summary: str
    details: str
    references: tuple[_Reference, ...]
    affected: tuple[_Affected, ...]
    database_specific: _Specific

    @property
    def package(self) -> str:
        """On PyPI; a record is of one."""
        return self.affected[0].package.name

    @property
    def page(self) -> str:
        """For a reader, as Markdown."""
        until = f"fixed in {self.fixed}" if self.fixed else "no release known that fixes it"
        since = "" if self.introduced == "0" else f"from {self.introduced} on, "
        sources = "\n".join(f"- {reference.url}" for reference in self.references)
        return f"{self.details}\n\n## Releases\n\n{self.package}: {since}{until}.\n\n## Sources\n\n{sources}\n"

    @property
    def introduced(self) -> str:
        """The first release that has it; `0` for "from the start, as far as known"."""
        return next(event.introduced for event in self._events() if event.introduced)

    @property
    def fixed(self) -> str | None:
        """The first release without it, if one is known."""
        return next((event.fixed for event in self._events() if event.fixed), None)

    def _events(self) -> Iterator[_Event]:
        for affected in self.affected:
            for one in affected.ranges:
                yield from one.events


@dataclass(frozen=True, slots=True)
class Hit:
    """The node has it."""

    advisory: Advisory
    severity: Severity
    confidence: Confidence
    tree: SourceTree | None = None
    """Where its code was given and lacks what would end it."""
    lacks: tuple[FixVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Open:
    """The node may have it; what is missing to tell."""

    advisory: Advisory
    missing: str
    decisive: bool
    tree: SourceTree | None = None
    """As for `Hit`."""
    lacks: tuple[FixVerdict, ...] = ()


@cache
def advisories() -> tuple[Advisory, ...]:
    """All records of the package, by id."""
    folder = files("kvfence.audit") / "advisories"
    texts = (file.read_bytes() for file in folder.iterdir() if file.name.endswith(".json"))
    return tuple(sorted((msgspec.json.decode(text, type=Advisory) for text in texts), key=lambda one: one.id))


def judged_by_version(node: NodeFacts) -> Iterator[Hit | Open]:
    """Every record that is, or may be, the node's: of its engine, for its role, not covered by a check that is on.

    Nothing of a node that is planned: a launch command says no version.
    """
    if node.planned:
        return
    engine, role = engine_of(node), role_of(node)
    for advisory in advisories():
        severity = advisory.database_specific.roles.get(role or "")
        if engine is None or _PACKAGES.get(engine) != advisory.package or severity is None or _covered(advisory, node):
            continue
        missing = _missing(advisory, node)
        if missing is None:
            continue
        if missing:
            yield Open(advisory, missing, decisive=_met(advisory, node) is True)
        else:
            yield Hit(advisory, severity, _confidence(advisory, node))


def _covered(advisory: Advisory, node: NodeFacts) -> bool:
    """Also where its checks are not known: that is a gap of its own."""
    checks = node.text("checks")
    by = advisory.database_specific.covered_by
    return bool(by) and (checks is None or any(check.partition("=")[0] in by for check in checks.split(",")))


def _missing(advisory: Advisory, node: NodeFacts) -> str | None:
    """What must be known to tell; nothing if all is, and None if the node does not have it."""
    oldest, newest = ends(known_version(node.facts))
    fixed, specific = advisory.fixed, advisory.database_specific
    connector = node.text("transfer_backend")
    if specific.connectors and connector and connector not in specific.connectors:
        return None
    if _met(advisory, node) is False or (newest and is_older(newest, advisory.introduced)):
        return None
    if fixed and oldest and not is_older(oldest, fixed) and not _precedes(oldest, fixed):
        return None
    if fixed and (newest is None or not is_older(newest, fixed)):
        return f"the version: it is fixed in {fixed}"
    if specific.connectors and not connector:
        return f"the KV connector: it is of {specific.connectors[0]}"
    return "" if _met(advisory, node) else f"whether it has {specific.needs}"


def _met(advisory: Advisory, node: NodeFacts) -> bool | None:
    """Whether what it needs besides the version is so; None where that is not known."""
    specific = advisory.database_specific
    if specific.needs is None:
        return True
    fact = node.fact(specific.needs_fact) if specific.needs_fact else None
    return None if fact is None else fact.value is True


def _precedes(version: str, fixed: str) -> bool:
    """Whether it may be a pre-release of the fixing one."""
    return not is_older(fixed, version) and bool(_PRE_RELEASE.search(version))


def _confidence(advisory: Advisory, node: NodeFacts) -> Confidence:
    """High for an exact version among those that were read for the record."""
    version, read = known_version(node.facts), advisory.database_specific.read
    if not isinstance(version, Exactly) or read.oldest is None or read.newest is None:
        return Confidence.MEDIUM
    outside = is_older(version.version, read.oldest) or is_older(read.newest, version.version)
    return Confidence.MEDIUM if outside else Confidence.HIGH
