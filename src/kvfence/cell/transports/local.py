"""Both stores can be mapped by both workers: in one process, or in shared memory. Writes land at once."""

from __future__ import annotations

from collections.abc import Sequence

from kvfence.cell.paged_kv import PagedKV
from kvfence.core.ids import Epoch, PageId, RoomId
from kvfence.core.lease import Leases


class LocalWire:
    """Copies between `own` and `peer`; the peer is not asked, as with one-sided RDMA."""

    def __init__(self, own: PagedKV, peer: PagedKV) -> None:
        self._own = own
        self._peer = peer

    def write(self, room: RoomId, source: Sequence[PageId], target: Leases) -> bool:
        """Land at once; `room` is not needed, since nobody can refuse. Pages the peer does not have are skipped."""
        del room
        if target.exist_among(self._peer.page_count):
            self._peer.copy_pages(self._own, source, target.pages)
        return True

    def read(self, room: RoomId, source: Leases, target: Sequence[PageId]) -> tuple[Epoch, ...] | None:
        """Read, then look at the epochs: in this order a page given away meanwhile is always noticed (I4).

        Pages that the peer does not have cannot be read, and have no epochs.
        """
        del room
        if not source.exist_among(self._peer.page_count):
            return ()
        self._own.copy_pages(self._peer, source.pages, target)
        return tuple(Epoch(epoch) for epoch in self._peer.epochs_of(source.pages))

    def landed(self) -> Sequence[RoomId]:
        """Nothing is ever held back here."""
        return ()

    def pulled(self) -> Sequence[tuple[RoomId, tuple[Epoch, ...]]]:
        """Nothing is ever held back here."""
        return ()

    def due_in_s(self) -> float | None:
        """Nothing is ever held back here."""
        return None
