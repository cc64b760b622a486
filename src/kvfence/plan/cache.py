"""What layers keep: values that a family makes of a config, and that an engine turns into tokens.

A layer keeps every token (`FULL`), only those in its window (`WINDOW`), or one state however long the request
(`STATE`). All bytes are of one layer on one GPU.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Keeps(StrEnum):
    """How long a layer keeps what it was given."""

    FULL = "full"
    WINDOW = "window"
    STATE = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Layers that are alike."""

    name: str
    keeps: Keeps
    count: int
    token_bytes: int = 0
    state_bytes: int = 0
    """Of one request, for `STATE`."""
    window: int = 0
    source: str
    side: bool = False
    """Beside another kind of the same layers (an indexer): no layers of the model on their own."""


@dataclass(frozen=True, slots=True)
class Cache:
    """All of a model's layers, on one GPU of its fullest pipeline stage."""

    family: str
    layers: tuple[Layers, ...]
    notes: tuple[str, ...] = ()

    def of(self, keeps: Keeps) -> tuple[Layers, ...]:
        """The layers of one kind that are there."""
        return tuple(some for some in self.layers if some.keeps is keeps and some.count)

    def token_bytes(self, keeps: Keeps) -> int:
        """Of one token in all layers of a kind."""
        return sum(some.token_bytes * some.count for some in self.of(keeps))

    @property
    def state_bytes(self) -> int:
        """Of one request in all layers with a state."""
        return sum(some.state_bytes * some.count for some in self.of(Keeps.STATE))

    @property
    def window(self) -> int:
        """The longest window; 0 without one."""
        return max((some.window for some in self.of(Keeps.WINDOW)), default=0)


def own_layers(layers: Iterable[Layers]) -> int:
    """How many layers of the model these are."""
    return sum(some.count for some in layers if not some.side)
