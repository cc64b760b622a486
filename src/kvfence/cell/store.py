"""The bytes of one worker's pool, and beside them the epochs that a remote reader may look at. Nothing decides here.

    pages   float32 (pages, page_size, ROW_FLOATS)
    epochs  int64 (pages,)

Either private memory of this process, or one shared-memory segment with the epochs behind the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from multiprocessing import shared_memory

import numpy as np
from numpy.typing import NDArray

from kvfence.cell.models.induction import ROW_FLOATS, runs
from kvfence.errors import TargetError

ROW_BYTES = ROW_FLOATS * 4


class PageStore:
    """Pages by number. Several threads may use it at once, as long as they write different pages."""

    def __init__(self, pages: int, page_size: int, segment: shared_memory.SharedMemory | None = None) -> None:
        self._segment = segment
        shape = (pages, page_size, ROW_FLOATS)
        pool_bytes = pages * page_size * ROW_BYTES
        memory = bytearray(pool_bytes + pages * 8) if segment is None else segment.buf
        if memory is None:
            raise TargetError("the shared pool is closed")
        self.pages: NDArray[np.float32] = np.frombuffer(memory, np.float32, pool_bytes // 4).reshape(shape)
        self.epochs: NDArray[np.int64] = np.frombuffer(memory, np.int64, pages, offset=pool_bytes)

    @classmethod
    def create_shared(cls, pages: int, page_size: int) -> PageStore:
        """A new segment; `segment_name` tells others where it is; `close` removes it."""
        size = pages * (page_size * ROW_BYTES + 8)
        return cls(pages, page_size, shared_memory.SharedMemory(create=True, size=max(size, 1)))

    @classmethod
    def attach(cls, name: str, pages: int, page_size: int) -> PageStore:
        """The segment of this process's parent; closing it here leaves it alive."""
        # Attaching registers the segment a second time with the resource tracker that a spawned worker shares with
        # its parent; that is idempotent there, and the parent's unlink takes it out again.
        return cls(pages, page_size, shared_memory.SharedMemory(name=name))

    @property
    def segment_name(self) -> str:
        """The name to attach by; empty for private memory."""
        return self._segment.name if self._segment is not None else ""

    def copy_pages(self, source: PageStore, source_ids: Sequence[int], own_ids: Sequence[int]) -> None:
        """Overwrite own pages with those of `source`, pairwise; runs of consecutive pages go in one copy."""
        source_table = np.asarray(source_ids, dtype=np.int64)
        for at, first, count in runs(own_ids):
            for within, source_first, length in runs(source_table[at : at + count]):
                own = first + within
                self.pages[own : own + length] = source.pages[source_first : source_first + length]

    def scrub(self, page_ids: Sequence[int]) -> None:
        """Clear pages."""
        for _, first, count in runs(page_ids):
            self.pages[first : first + count] = 0

    def read_page(self, page: int) -> memoryview:
        """The bytes of one page, not copied."""
        return memoryview(self.pages[page]).cast("B")

    def write_page(self, page: int, data: bytes | memoryview) -> None:
        """Overwrite one page."""
        self.pages[page] = np.frombuffer(data, np.float32).reshape(self.pages[page].shape)

    def epochs_of(self, page_ids: Sequence[int]) -> tuple[int, ...]:
        """The epochs of these pages now."""
        return tuple(int(epoch) for epoch in self.epochs[list(page_ids)])

    def set_epochs(self, page_ids: Sequence[int], epochs: Sequence[int]) -> None:
        """Let remote readers see these epochs."""
        self.epochs[list(page_ids)] = epochs

    def close(self, *, unlink: bool = False) -> None:
        """Let go of a shared segment; with `unlink`, remove it."""
        segment, self._segment = self._segment, None
        if segment is None:
            return
        self.pages = np.zeros((0, 1, ROW_FLOATS), dtype=np.float32)
        self.epochs = np.zeros(0, dtype=np.int64)
        segment.close()
        if unlink:
            segment.unlink()
