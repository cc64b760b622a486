"""One worker's keys and values: the model's numbers in the store's pages, under the oracle's eye if it is on.

This is all that drivers see of tensors. Every method that writes says for which tenant, and the one that reads says
for whom; without the oracle those names are not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kvfence.cell.config import CellConfig
from kvfence.cell.digests import digest_pages
from kvfence.cell.models import induction
from kvfence.cell.store import PageStore
from kvfence.cell.taint import NO_TAINT, Oracle, Taint, TaintShadow
from kvfence.core.ids import Digest, PageId, Role

PageIds = Sequence[int] | NDArray[np.int64]
_PAGES_A_CHUNK = 64
"""Pages whose rows are computed in one go: small enough to stay in a core's cache on their way into the pool."""


class PagedKV:
    """The pages of one worker's pool."""

    def __init__(self, store: PageStore, taint: Taint) -> None:
        self._store = store
        self._taint = taint
        self._page_size = store.pages.shape[1]

    @classmethod
    def private(cls, config: CellConfig, role: Role) -> PagedKV:
        """In plain memory of this process."""
        pages = config.capacity(role).pool_pages
        if config.oracle is Oracle.OFF:
            return cls(PageStore(pages, config.page_size), NO_TAINT)
        return cls(PageStore(pages, config.page_size), TaintShadow.private(pages, config.page_size, config.oracle))

    @classmethod
    def shared(cls, config: CellConfig, role: Role) -> PagedKV:
        """In a new shared-memory segment; `close` removes it."""
        pages = config.capacity(role).pool_pages
        return cls(PageStore.create_shared(pages, config.page_size), NO_TAINT)

    @classmethod
    def attached(cls, config: CellConfig, role: Role, segment: str) -> PagedKV:
        """In a segment that another process made."""
        return cls(PageStore.attach(segment, config.capacity(role).pool_pages, config.page_size), NO_TAINT)

    @property
    def page_count(self) -> int:
        """Pages of the pool."""
        return int(self._store.pages.shape[0])

    @property
    def segment(self) -> str:
        """The name of the shared segment."""
        return self._store.segment_name

    def encode(
        self,
        tokens: NDArray[np.uint8],
        start: int,
        stop: int,
        page_table: PageIds,
        tenant: str,
        *,
        digest_seed: int | None = None,
    ) -> dict[PageId, Digest]:
        """Compute slots [start, stop) of a request into its pages. `start` is the first slot of a page.

        With a seed, returns the digest of each page as it is after that, taken while the page is still in the cache.
        """
        digests: dict[PageId, Digest] = {}
        first_page = start // self._page_size
        table = page_table[first_page : -(-stop // self._page_size)]
        for at, page, count in induction.runs(table):
            for part in range(0, count, _PAGES_A_CHUNK):
                low = start + (at + part) * self._page_size
                high = min(low + min(_PAGES_A_CHUNK, count - part) * self._page_size, stop)
                rows = self._store.pages[page + part : page + count].reshape(-1, induction.ROW_FLOATS)
                induction.encode_rows(tokens, low, high, rows[: high - low])
                if digest_seed is not None:
                    done = [PageId(page + part + at) for at in range(-(-(high - low) // self._page_size))]
                    digests.update(zip(done, digest_pages(self._store, done, digest_seed), strict=True))
        self._taint.wrote(page_table, start, stop, tenant)
        return digests

    def next_token(self, page_table: PageIds, length: int, tail: bytes, tenant: str) -> int:
        """Attend over slots [0, length); what is read is what lies in those pages, whoever wrote it."""
        self._taint.read(page_table, length, tenant)
        return induction.attend(self._store.pages, page_table, length, induction.query(tail)).token

    def append(self, page_table: PageIds, slot: int, tail: bytes, token: int, tenant: str) -> None:
        """Write the slot of a generated token that came after `tail`."""
        page, within = page_table[slot // self._page_size], slot % self._page_size
        tokens = np.frombuffer(tail + bytes((token,)), dtype=np.uint8)
        row = self._store.pages[page, within : within + 1]
        induction.encode_rows(tokens, len(tail), len(tail) + 1, row)
        self._taint.wrote(page_table, slot, slot + 1, tenant)

    def copy_pages(self, source: PagedKV, source_ids: Sequence[int], own_ids: Sequence[int]) -> None:
        """Overwrite own pages with those of `source`, pairwise."""
        self._store.copy_pages(source._store, source_ids, own_ids)
        self._taint.copied(source._taint, source_ids, own_ids)

    def read_pages(self, page_ids: Sequence[int]) -> bytes:
        """The bytes of these pages, for a message."""
        return b"".join(self._store.read_page(page) for page in page_ids) + self._taint.packed(page_ids)

    def message_bytes(self, pages: int) -> int:
        """How long `read_pages` is for so many pages."""
        return pages * int(self._store.pages[0].nbytes) + self._taint.packed_bytes(pages)

    def write_pages(self, page_ids: Sequence[int], data: bytes) -> None:
        """Overwrite these pages with the bytes of a message."""
        page_bytes = self._store.pages[0].nbytes
        for at, page in enumerate(page_ids):
            self._store.write_page(page, memoryview(data)[at * page_bytes : (at + 1) * page_bytes])
        self._taint.unpacked(page_ids, data[len(page_ids) * page_bytes :])

    def scrub(self, page_ids: Sequence[int]) -> None:
        """Clear these pages."""
        self._store.scrub(page_ids)
        self._taint.scrubbed(page_ids)

    def digest(self, page_ids: Sequence[int], seed: int) -> tuple[Digest, ...]:
        """Digests of what is in these pages now."""
        return digest_pages(self._store, page_ids, seed)

    def epochs_of(self, page_ids: Sequence[int]) -> tuple[int, ...]:
        """The epochs that the owner has published."""
        return self._store.epochs_of(page_ids)

    def set_epochs(self, page_ids: Sequence[int], epochs: Sequence[int]) -> None:
        """Publish epochs, before anything is written under them."""
        self._store.set_epochs(page_ids, epochs)

    def owners(self, page_ids: Sequence[int]) -> list[str]:
        """Whose bytes these pages hold, where the oracle is on: for the demo's picture."""
        return self._taint.owners(page_ids)

    @property
    def foreign_reads(self) -> int:
        """How many reads of another tenant's slots a recording oracle has seen."""
        return self._taint.foreign_reads if isinstance(self._taint, TaintShadow) else 0

    def owners_of_first_read(self, tenant: str) -> list[str]:
        """Whose bytes lay in the pages first read for `tenant`, where the oracle records."""
        return self._taint.owners_of_first_read(tenant) if isinstance(self._taint, TaintShadow) else []

    def close(self, *, unlink: bool = False) -> None:
        """Let go of shared memory; with `unlink`, remove it."""
        self._store.close(unlink=unlink)
