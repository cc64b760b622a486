"""The accounts of all pages of one worker. No bytes here; those lie in the cell's store.

Conservation, kept by every function of this module: each page is in exactly one state, the free order holds exactly
the free pages, and an epoch goes up by one when, and only when, its page is handed out.

    epochs      0   3   1   7        one a page, only grows
    states      F   L   S   D        Free, Leased, Sealed, Draining …
    free_order  0                    next to be handed out: at the end (LIFO) or at the front (FIFO)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from kvfence.core.admission import Admitted
from kvfence.core.ids import Epoch, PageId, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import Free, Leases, Move, PageState, moved


class Reuse(StrEnum):
    """Which free page is handed out next. It decides whose old text shows, and how soon."""

    LIFO = "lifo"
    """The page freed last (vLLM's pages without a hash)."""
    FIFO = "fifo"
    """The page freed longest ago (SGLang's free list)."""


_CLEAN = Free()


@dataclass(frozen=True, slots=True, repr=False)
class Pool:
    """States and epochs by page."""

    epochs: tuple[Epoch, ...]
    states: tuple[PageState, ...]
    free_order: tuple[PageId, ...]
    reuse: Reuse

    @property
    def free_pages(self) -> int:
        """How many pages can be leased now. Reads only."""
        return len(self.free_order)

    def counts(self) -> Counter[str]:
        """Pages by the name of their state. Reads only."""
        return Counter(type(state).__name__.lower() for state in self.states)

    def last_tenant(self, page: PageId) -> TenantId | None:
        """Whose text may still lie in a free page. Reads only."""
        state = self.states[page]
        return state.last_tenant if isinstance(state, Free) else None

    def holds(self, leases: Leases) -> bool:
        """Whether every page exists, under the epoch leased. Reads only."""
        epochs = self.epochs
        return leases.exist_among(len(epochs)) and all(
            epochs[page] == epoch for page, epoch in zip(leases.pages, leases.epochs, strict=True)
        )

    def __repr__(self) -> str:
        counted = ", ".join(f"{count} {name}" for name, count in sorted(self.counts().items()))
        return f"Pool({len(self.states)} pages: {counted})"


def empty_pool(pages: int, reuse: Reuse = Reuse.LIFO) -> Pool:
    """A pool in which nothing was ever written. Page 0 is handed out first."""
    order = range(pages) if reuse is Reuse.FIFO else range(pages - 1, -1, -1)
    nobodys: PageState = _CLEAN
    return Pool((Epoch(0),) * pages, (nobodys,) * pages, tuple(PageId(page) for page in order), reuse)


def lease(pool: Pool, admitted: Admitted, room: RoomId, tenant: TenantId, pages: int) -> tuple[Pool, Leases]:
    """Move `pages` pages from free to leased; each gets its next epoch.

    `pages` is at most what was admitted: less where a prefix is shared.
    """
    if pages > min(admitted.pages, pool.free_pages):
        raise Violation(Check.ADMISSION, f"{pages} pages asked, {admitted.pages} admitted, {pool.free_pages} free")
    taken, left = _take(pool, pages)
    epochs = list(pool.epochs)
    for page in taken:
        epochs[page] = Epoch(epochs[page] + 1)
    leases = Leases(room, tenant, taken, tuple(epochs[page] for page in taken))
    states = _moved_states(pool.states, leases, Move.LEASE)
    return replace(pool, epochs=tuple(epochs), states=states, free_order=left), leases


def move(pool: Pool, leases: Leases, how: Move, check: Check | None = None) -> Pool:
    """Move every page of `leases`; those that become free can be handed out at once.

    Pages are given back last first, so that under LIFO the next room gets them in page order.
    """
    if not pool.holds(leases):
        raise Violation(Check.ILLEGAL_PAGE_MOVE, f"{how.name} by room {leases.room} under an epoch that is over")
    states = _moved_states(pool.states, leases, how, check)
    freed = tuple(page for page in reversed(leases.pages) if isinstance(states[page], Free))
    return replace(pool, states=states, free_order=pool.free_order + freed)


def check_conservation(pool: Pool) -> None:
    """Raise unless free + leased + filling + sealed + draining + quarantined is the pool. Reads only."""
    free = {page for page, state in enumerate(pool.states) if isinstance(state, Free)}
    if len(pool.free_order) != len(free) or free != set(pool.free_order):
        raise Violation(Check.CONSERVATION, f"{len(pool.free_order)} in the free order, {len(free)} free: {pool!r}")


def _take(pool: Pool, pages: int) -> tuple[tuple[PageId, ...], tuple[PageId, ...]]:
    order = pool.free_order
    if pool.reuse is Reuse.FIFO:
        return order[:pages], order[pages:]
    split = len(order) - pages
    return order[:split:-1] + order[split : split + 1] if pages else (), order[:split]


def _moved_states(
    states: tuple[PageState, ...], leases: Leases, how: Move, check: Check | None = None
) -> tuple[PageState, ...]:
    """Pages of one room share their state value, so each distinct value is moved once."""
    after = list(states)
    known: dict[PageState, PageState] = {}
    for page in leases.pages:
        state = after[page]
        if state not in known:
            known[state] = moved(state, how, by=leases, check=check)
        after[page] = known[state]
    return tuple(after)


def used_free_pages(pool: Pool, count_max: int) -> tuple[PageId, ...]:
    """Some free pages in which somebody's text may lie, those that are handed out next first. Reads only."""
    order = reversed(pool.free_order) if pool.reuse is Reuse.LIFO else iter(pool.free_order)
    states = pool.states
    return tuple(islice((page for page in order if states[page] is not _CLEAN), count_max))


def forget_tenants(pool: Pool, pages: Iterable[PageId]) -> Pool:
    """Note that these free pages have been cleared: nothing of anybody lies in them."""
    states = list(pool.states)
    for page in pages:
        if not isinstance(states[page], Free):
            raise Violation(Check.ILLEGAL_PAGE_MOVE, f"clearing of a page that is {type(states[page]).__name__}")
        states[page] = _CLEAN
    return replace(pool, states=tuple(states))


def tenants_left(pool: Pool, pages: Iterable[PageId], newcomer: TenantId) -> tuple[PageId, ...]:
    """The free pages among `pages` in which another tenant's text may lie. Reads only."""
    return tuple(page for page in pages if pool.last_tenant(page) not in (None, newcomer))
