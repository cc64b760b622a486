"""What lies in a slot: who wrote it last. The checker's taint, which knows nothing of leases, epochs or seals.

A mark is a small number: a tenant, a story, and which token of the story. A request's story is its own, unless
requests share a prompt. Of a request that is over and forgotten, only whose it was is remembered.
"""

from __future__ import annotations

from collections.abc import Sequence

Mark = int
"""0 where nobody has written, or where it was cleared."""
Page = tuple[Mark, ...]
"""The slots of one page."""

NOBODY: Mark = 0
SHARED_STORIES = 128
"""Numbers of stories from here on are shared by several requests; below, a story's number is its room's."""
_STORY, _TENANT = 8, 16


def mark(tenant: int, story: int, token: int) -> Mark:
    """Token `token` of `story`, written for `tenant` (from 0)."""
    return (tenant + 1) << _TENANT | story << _STORY | (token + 1)


def tenant_of(written: Mark) -> int:
    """Whose it is; -1 for nobody's."""
    return (written >> _TENANT) - 1


def story_of(written: Mark) -> int:
    """Which story it is of; 0 where that is forgotten."""
    return (written >> _STORY) & 0xFF


def aged(written: Mark) -> Mark:
    """Only whose it was."""
    return written >> _TENANT << _TENANT


def blank(page_size: int) -> Page:
    """A page that nobody has written to."""
    return (NOBODY,) * page_size


def digest_of(room: int, page: Page) -> bytes:
    """A digest without collisions, seeded by its room: 16 bytes would hold a page of the small worlds explored here."""
    return room.to_bytes(4, "little") + b"".join(written.to_bytes(4, "little") for written in page)


def write(pages: Sequence[Page], table: Sequence[int], start: int, marks: Sequence[Mark]) -> tuple[Page, ...]:
    """`pages` after `marks` were written into slots from `start` on of the page table."""
    changed = [list(page) for page in pages]
    size = len(changed[0])
    for slot, written in enumerate(marks, start):
        changed[table[slot // size]][slot % size] = written
    return tuple(tuple(page) for page in changed)


def read(pages: Sequence[Page], table: Sequence[int], length: int) -> list[Mark]:
    """What lies in slots [0, `length`) of the page table."""
    size = len(pages[0])
    return [pages[table[slot // size]][slot % size] for slot in range(length)]
