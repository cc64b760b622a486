"""What any reader of targets gives back: nodes with their facts, and what could not be read. No reader lives here."""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.facts.fact import NodeFacts
from kvfence.findings.source_tree import SourceTree


@dataclass(frozen=True, slots=True)
class Reading:
    """What one target gave: its nodes in the order of their first mention, and what could not be read in it."""

    nodes: tuple[NodeFacts, ...]
    gaps: tuple[str, ...]
    """Each a sentence that ends a line `TARGET: …`."""
    notes: tuple[str, ...] = ()
    """The same, of what is to be told and hides nothing."""
    trees: tuple[SourceTree, ...] = ()
    """Engines' code that was found in it, each fix decided."""
