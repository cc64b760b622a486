"""A wire on which every transfer takes real time: so long that a hang-up or an expired lease meets it in flight.

Each transfer is drawn a time of its own, between nothing and `delay_s`, as on a network that is congested or sends
again: of two that were posted one after the other, the second may be there first. What is written or read is decided
only when it happens, as with one-sided operations. Nothing here knows whether that is still right.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable, Sequence

from kvfence.cell.transports.base import PageWire
from kvfence.core.ids import Epoch, PageId, RoomId
from kvfence.core.lease import Leases

Transfer = Callable[[], object]


class SlowWire:
    """Passes everything on to `inner`, late. Used by one worker's thread; its transfers happen in that thread."""

    def __init__(self, inner: PageWire, delay_s: float, clock: Callable[[], float], rng: random.Random) -> None:
        self._inner = inner
        self._delay_s = delay_s
        self._clock = clock
        self._rng = rng
        self._under_way: list[tuple[float, int, Transfer]] = []
        self._order = itertools.count()
        self._landed: list[RoomId] = []
        self._pulled: list[tuple[RoomId, tuple[Epoch, ...]]] = []

    def write(self, room: RoomId, source: Sequence[PageId], target: Leases) -> bool:
        """Write later."""

        def land() -> None:
            if self._inner.write(room, source, target):
                self._landed.append(room)

        self._post(land)
        return False

    def read(self, room: RoomId, source: Leases, target: Sequence[PageId]) -> tuple[Epoch, ...] | None:
        """Read later; the epochs are those of then."""

        def end() -> None:
            epochs = self._inner.read(room, source, target)
            if epochs is not None:
                self._pulled.append((room, epochs))

        self._post(end)
        return None

    def landed(self) -> Sequence[RoomId]:
        """Rooms whose writes have landed since the last call; those that are due land now."""
        self._happen()
        landed, self._landed = self._landed, []
        return (*landed, *self._inner.landed())

    def pulled(self) -> Sequence[tuple[RoomId, tuple[Epoch, ...]]]:
        """Rooms whose reads have ended since the last call; those that are due happen now."""
        self._happen()
        pulled, self._pulled = self._pulled, []
        return (*pulled, *self._inner.pulled())

    def due_in_s(self) -> float | None:
        """When the next transfer is over."""
        return max(self._under_way[0][0] - self._clock(), 0.0) if self._under_way else self._inner.due_in_s()

    def _post(self, transfer: Transfer) -> None:
        due = self._clock() + self._rng.uniform(0.0, self._delay_s)
        heapq.heappush(self._under_way, (due, next(self._order), transfer))

    def _happen(self) -> None:
        while self._under_way and self._under_way[0][0] <= self._clock():
            heapq.heappop(self._under_way)[2]()
