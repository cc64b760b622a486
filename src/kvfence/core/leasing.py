"""Leasing pages that carry nothing of another tenant, and giving a tenant its own computed pages again (I5, I6).

prompt pages:   | shared: sealed, same tenant, same tokens | own: leased now, cleared if they change tenant |
0                                      shared                                           pages
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from kvfence.core.actions import Action, PublishEpochs, ScrubPages
from kvfence.core.admission import Admitted
from kvfence.core.handoff import Worker
from kvfence.core.ids import PageId, PrefixKey, Role, RoomId, TenantId
from kvfence.core.lease import Leases, Move, Sealed
from kvfence.core.pool import Pool, forget_tenants, lease, move, tenants_left, used_free_pages
from kvfence.core.rules import Layer

_INDEX = RoomId(-1)
"""The room in whose name the prefix index holds pages."""


def lease_clean(
    worker: Worker, admitted: Admitted, room: RoomId, tenant: TenantId, pages: int, *, overwritten: int = 0
) -> tuple[Worker, Leases, tuple[Action, ...]]:
    """Lease `pages` pages; the first actions make that seen, and clear those that change tenant (I5).

    The first `overwritten` pages are left as they are: this worker itself writes each of their slots before it lets
    anybody read or copy them, so nothing of the last tenant is left by then. Pages that a peer fills are never among
    them.
    """
    before = worker.pool
    pool, leases = lease(before, admitted, room, tenant, pages)
    actions: tuple[Action, ...] = (PublishEpochs(leases=leases),)
    if worker.rules.has(Layer.CLEAN_PAGES) and (foreign := tenants_left(before, leases.pages[overwritten:], tenant)):
        actions = (*actions, ScrubPages(pages=foreign))
    return replace(worker, pool=pool), leases, actions


def clear_ahead(worker: Worker, pages_max: int) -> tuple[Worker, tuple[Action, ...]]:
    """Clear some free pages while there is nothing else to do, so that the next tenant need not wait for it (I5).

    Not at prefill: it writes every slot of its full pages itself, so nobody would wait for them.
    """
    if worker.role is Role.PREFILL or not worker.rules.has(Layer.CLEAN_PAGES):
        return worker, ()
    dirty = used_free_pages(worker.pool, pages_max)
    if not dirty:
        return worker, ()
    return replace(worker, pool=forget_tenants(worker.pool, dirty)), (ScrubPages(pages=tuple(sorted(dirty))),)


def available_pages(worker: Worker) -> int:
    """Free pages, and those that only the prefix index holds. Reads only."""
    return worker.pool.free_pages + sum(1 for page in worker.prefixes.values() if _only_index_holds(worker.pool, page))


def share_prefix(
    worker: Worker, keys: Iterable[PrefixKey], room: RoomId, tenant: TenantId
) -> tuple[Worker, tuple[PageId, ...]]:
    """Hold the longest run of pages that this tenant has already computed for these keys."""
    run: list[PageId] = []
    for key in keys:
        page = worker.prefixes.get((tenant, key))
        if page is None:
            break
        run.append(page)
    pages = tuple(run)
    pool = move(worker.pool, _held(worker.pool, pages, room, tenant), Move.SHARE)
    return replace(worker, pool=pool), pages


def evict(worker: Worker, pages: int) -> Worker:
    """Let the index go of its oldest pages that nobody else holds, until `pages` are free or none is left.

    They are given back in page order, as a room gives back its own: the next room's pages then lie in a row again.
    """
    missing = max(pages - worker.pool.free_pages, 0)
    idle = (entry for entry in worker.prefixes.items() if _only_index_holds(worker.pool, entry[1]))
    oldest = list(islice(idle, missing))
    by_tenant: dict[TenantId, list[PageId]] = {}
    for (tenant, _), page in oldest:
        by_tenant.setdefault(tenant, []).append(page)
    pool = worker.pool
    for tenant, gone in by_tenant.items():
        pool = move(pool, _held(pool, tuple(reversed(gone)), _INDEX, tenant), Move.RELEASE)
    return replace(worker, pool=pool, prefixes=worker.prefixes.without(*(key for key, _ in oldest)))


def remember_prefix(worker: Worker, keys: tuple[PrefixKey, ...], pages: tuple[PageId, ...], tenant: TenantId) -> Worker:
    """Let the index hold these sealed full pages too. The last page is entered first, so it is evicted first."""
    known = worker.prefixes
    entered = [((tenant, key), page) for key, page in zip(keys, pages, strict=False) if (tenant, key) not in known]
    fresh = tuple(page for _, page in entered)
    pool = move(worker.pool, _held(worker.pool, fresh, _INDEX, tenant), Move.SHARE)
    return replace(worker, pool=pool, prefixes=known.with_all(reversed(entered)))


def forget_prefixes(worker: Worker) -> Worker:
    """Let the index go of every page that nobody else holds."""
    return evict(worker, len(worker.pool.states))


def held_by(worker: Worker, pages: tuple[PageId, ...], room: RoomId, tenant: TenantId) -> Leases:
    """The rights to pages that `room` holds, under their epochs of now: a page that is held cannot change hands."""
    return _held(worker.pool, pages, room, tenant)


def _held(pool: Pool, pages: tuple[PageId, ...], room: RoomId, tenant: TenantId) -> Leases:
    return Leases(room, tenant, pages, tuple(pool.epochs[page] for page in pages))


def _only_index_holds(pool: Pool, page: PageId) -> bool:
    state = pool.states[page]
    return isinstance(state, Sealed) and state.holders == 1
