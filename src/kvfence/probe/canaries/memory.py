"""Who planted which marker: what is remembered within one process, and what a longer memory has to offer."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from kvfence.probe.markers import pieces_in

REMEMBERED_MAX = 10_000
"""Markers. What stale pages show was planted lately; an older marker is still known as one of kvfence."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One marker that stands in somebody's prompt."""

    text: str
    owner: str
    """Whose prompt: a test, a call, a user."""
    planted_s: float | None
    """Seconds since 1970; None where that is not known."""


class Registry(Protocol):
    """A memory of planted markers. Called from any thread; what it raises is the caller's to stand."""

    def plant(self, planted: Planted) -> None:
        """Remember a marker, before the prompt that carries it is sent."""

    def whose(self, pieces: frozenset[str]) -> Iterable[Planted]:
        """The markers that have at least one of these pieces (`markers.pieces_in`), each once."""


@dataclass(slots=True)
class Memory:
    """The last markers of this process; the oldest goes when there are too many."""

    remembered_max: int = REMEMBERED_MAX
    _by_piece: dict[str, Planted] = field(default_factory=dict, init=False, repr=False)
    _order: deque[str] = field(default_factory=deque, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def plant(self, planted: Planted) -> None:
        """Remember a marker."""
        with self._lock:
            if len(self._order) >= self.remembered_max:
                for piece in pieces_in(self._order.popleft()):
                    self._by_piece.pop(piece, None)
            self._order.append(planted.text)
            self._by_piece.update(dict.fromkeys(pieces_in(planted.text), planted))

    def whose(self, pieces: frozenset[str]) -> Iterable[Planted]:
        """The markers that have one of these pieces."""
        with self._lock:
            found = [self._by_piece[piece] for piece in sorted(pieces) if piece in self._by_piece]
        return dict.fromkeys(found)


MEMORY = Memory()
"""Of this process: every canary knows every other one."""
