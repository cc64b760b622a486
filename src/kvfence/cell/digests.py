"""One digest a page: XXH3, 128 bits, seeded by the room. Why this one: docs/decisions/0005-page-digest.md."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import xxhash

from kvfence.cell.store import PageStore
from kvfence.core.ids import Digest


def seed_of(room: int) -> int:
    """64 bits that differ for every room, so that equal pages of two rooms have different digests."""
    return int.from_bytes(hashlib.blake2b(b"kvfence room %d" % room, digest_size=8).digest(), "little")


def digest_pages(store: PageStore, page_ids: Sequence[int], seed: int) -> tuple[Digest, ...]:
    """Digests of what is in these pages now, in order."""
    pages, digest = store.pages, xxhash.xxh3_128_digest
    return tuple(Digest(digest(pages[page], seed)) for page in page_ids)
