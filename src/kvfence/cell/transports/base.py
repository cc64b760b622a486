"""The small door through which page bytes go from one worker to another.

A wire moves bytes and reports; it decides nothing. Tests and the ablation put their own wire here, which holds a
write or a read back until it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kvfence.core.ids import Epoch, PageId, RoomId
from kvfence.core.lease import Leases


class PageWire(Protocol):
    """One-sided access to the peer's pages. Every method may be called from the worker's own thread only."""

    def write(self, room: RoomId, source: Sequence[PageId], target: Leases) -> bool:
        """Write own `source` pages over the peer's `target` pages; True when they have landed already.

        False: they will land later, and `landed` will name the room.
        """
        ...

    def read(self, room: RoomId, source: Leases, target: Sequence[PageId]) -> tuple[Epoch, ...] | None:
        """Read the peer's `source` pages into own `target` pages, then the epochs of the source.

        None: the read is still under way, and `pulled` will have the result.
        """
        ...

    def landed(self) -> Sequence[RoomId]:
        """Rooms whose held-back writes have landed since the last call."""
        ...

    def pulled(self) -> Sequence[tuple[RoomId, tuple[Epoch, ...]]]:
        """Rooms whose reads have ended since the last call, with the source's epochs after it."""
        ...

    def due_in_s(self) -> float | None:
        """Seconds until something of its own accord happens that `landed` or `pulled` tells of; None: nothing will."""
        ...
