"""Which node of today is which of the baseline: by name, then by engine and role, since pods get new names.

Nodes are those that serve: an earlier start in the same log is not compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kvfence.audit.baseline.lock import LockedNode
from kvfence.facts.fact import NodeFacts


@dataclass(frozen=True, slots=True)
class Pairing:
    """Who is compared with whom, and who is left over."""

    pairs: tuple[tuple[LockedNode, NodeFacts], ...]
    missing: tuple[LockedNode, ...]
    """Of the baseline, and nowhere now."""
    new: tuple[NodeFacts, ...]
    """Of an engine and role that the baseline does not have."""


def paired(locked: Sequence[LockedNode], nodes: Sequence[NodeFacts]) -> Pairing:
    """By name first; of the others, those of one engine and role, in the order of their names.

    When there are more now than then, each of these is compared with the first of its kind, as a replica of it.
    """
    now = {node.name: node for node in nodes}
    pairs = [(was, now[was.name]) for was in locked if was.name in now]
    taken = {was.name for was, _node in pairs}
    left = [was for was in sorted(locked, key=lambda was: was.name) if was.name not in taken]
    new = []
    for node in sorted((node for node in nodes if node.name not in taken), key=lambda node: node.name):
        alike = next((was for was in left if _kind_then(was) == _kind_now(node)), None)
        first = next((was for was in locked if _kind_then(was) == _kind_now(node)), None)
        if alike is not None:
            left.remove(alike)
            pairs.append((alike, node))
        elif first is not None:
            pairs.append((first, node))
        else:
            new.append(node)
    return Pairing(pairs=tuple(pairs), missing=tuple(left), new=tuple(new))


def _kind_then(was: LockedNode) -> tuple[object, object]:
    return was.facts.get("engine"), was.facts.get("role")


def _kind_now(node: NodeFacts) -> tuple[object, object]:
    return node.text("engine"), node.text("role")
