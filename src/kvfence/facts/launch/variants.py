"""Which manifests are of one deployment, and which are variants of one another: a staging and a production, say.

Two files that hold the same object (kind, namespace, name) cannot both be applied as they are. So where their paths
part, the two ways are variants: nothing behind the one belongs to anything behind the other. What stands above them, or
beside them, belongs to both. A path's last part is its file, so that `prod.yaml` and `staging.yaml` of one folder are
told apart as two folders are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variants:
    """By the path at which they part: the sets of next parts that are variants."""

    parted: dict[Parts, set[frozenset[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, paths: Sequence[str], objects: Sequence[Iterable[Hashable]]) -> Variants:
        """Of files at these paths that hold these objects."""
        holders: dict[Hashable, set[Parts]] = {}
        for path, held in zip(paths, objects, strict=True):
            for one in held:
                holders.setdefault(one, set()).add(PurePath(path).parts)
        variants = cls()
        for holding in {frozenset(parts) for parts in holders.values() if len(parts) > 1}:
            next_parts: dict[Parts, set[str]] = {}
            for parts in holding:
                for at, part in enumerate(parts):
                    next_parts.setdefault(parts[:at], set()).add(part)
            for at_path, ways in next_parts.items():
                if len(ways) > 1:
                    variants.parted.setdefault(at_path, set()).add(frozenset(ways))
        return variants

    def meet(self, one: str, other: str) -> bool:
        """Whether what stands in one file may belong to what stands in the other."""
        if one == other:
            return True
        parts, others = PurePath(one).parts, PurePath(other).parts
        at = next((i for i, (a, b) in enumerate(zip(parts, others, strict=False)) if a != b), None)
        if at is None:
            return True
        ways = {parts[at], others[at]}
        return not any(ways <= known for known in self.parted.get(parts[:at], ()))
