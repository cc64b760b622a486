"""Faults that can be switched on: a wire that holds a write or a read back until it is told to let go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kvfence.cell.transports.base import PageWire
from kvfence.core.ids import Epoch, PageId, RoomId
from kvfence.core.lease import Leases


@dataclass(slots=True)
class HeldWire:
    """Passes everything on to `inner`, but for rooms in `hold`: theirs waits for `let_go`.

    This is what a congested or retrying network does to one-sided operations. What is written or read is decided
    only when it happens, as on a real wire.
    """

    inner: PageWire
    hold: set[RoomId] = field(default_factory=set)
    _writes: list[tuple[RoomId, Callable[[], object]]] = field(default_factory=list)
    _reads: list[tuple[RoomId, Callable[[], tuple[Epoch, ...] | None]]] = field(default_factory=list)
    _landed: list[RoomId] = field(default_factory=list)
    _pulled: list[tuple[RoomId, tuple[Epoch, ...]]] = field(default_factory=list)

    @property
    def held(self) -> int:
        """How many operations are waiting."""
        return len(self._writes) + len(self._reads)

    def write(self, room: RoomId, source: Sequence[PageId], target: Leases) -> bool:
        """Write now, or later."""
        if room not in self.hold:
            return self.inner.write(room, source, target)
        self._writes.append((room, lambda: self.inner.write(room, source, target)))
        return False

    def read(self, room: RoomId, source: Leases, target: Sequence[PageId]) -> tuple[Epoch, ...] | None:
        """Read now, or later."""
        if room not in self.hold:
            return self.inner.read(room, source, target)
        self._reads.append((room, lambda: self.inner.read(room, source, target)))
        return None

    def let_go(self) -> None:
        """Everything that was held happens now."""
        for room, write in self._writes:
            write()
            self._landed.append(room)
        for room, read in self._reads:
            epochs = read()
            if epochs is not None:
                self._pulled.append((room, epochs))
        self._writes.clear()
        self._reads.clear()

    def landed(self) -> Sequence[RoomId]:
        """Rooms whose held-back writes have landed since the last call."""
        landed, self._landed = self._landed, []
        return (*landed, *self.inner.landed())

    def pulled(self) -> Sequence[tuple[RoomId, tuple[Epoch, ...]]]:
        """Rooms whose reads have ended since the last call."""
        pulled, self._pulled = self._pulled, []
        return (*pulled, *self.inner.pulled())

    def due_in_s(self) -> float | None:
        """What is held waits for `let_go`, and not for a time."""
        return self.inner.due_in_s()
