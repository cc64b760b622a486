"""Which page is handed out next, and who may move what."""

from dataclasses import replace

import pytest

from kvfence.core.admission import admit
from kvfence.core.ids import Role, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import Free, Move, Quarantined
from kvfence.core.pool import Reuse, check_conservation, empty_pool, lease, move
from kvfence.core.rules import FENCED
from support.rooms_values import PAGE, capacity, leases


def take(pool, room, pages, tenant="A"):
    admitted = admit(pages * PAGE, capacity(8), 8, gate=Role.DECODE, rules=FENCED)
    return lease(pool, admitted, RoomId(room), TenantId(tenant), pages)


@pytest.mark.parametrize(
    ("reuse", "third", "fourth"),
    [(Reuse.LIFO, (0, 1), (4, 5)), (Reuse.FIFO, (4, 5), (1, 0))],
)
def test_the_page_handed_out_next_is_the_one_freed_last_or_longest_ago(reuse, third, fourth):
    """Both orders start at page 0; they differ once pages have come back."""
    pool = empty_pool(6, reuse)
    pool, first = take(pool, 1, 2)
    pool, second = take(pool, 2, 2)
    assert (first.pages, second.pages) == ((0, 1), (2, 3))
    pool = move(pool, first, Move.RELEASE)
    pool, again = take(pool, 3, 2)
    assert again.pages == third
    pool, rest = take(pool, 4, 2)
    assert rest.pages == fourth


def test_under_lifo_a_room_gets_the_pages_of_the_last_one_in_their_order():
    """So the stale page that shows is the one of the same place."""
    pool, first = take(empty_pool(6), 1, 4)
    pool, second = take(move(pool, first, Move.RELEASE), 2, 4)
    assert second.pages == first.pages


def test_the_epoch_goes_up_when_and_only_when_the_page_is_handed_out():
    """A fencing token: other moves leave it, no page's ever falls."""
    pool, held = take(empty_pool(4), 1, 2)
    assert pool.epochs == (1, 1, 0, 0)
    for how in (Move.FILL, Move.SEAL, Move.RELEASE):
        pool = move(pool, held, how)
        assert pool.epochs == (1, 1, 0, 0)
    pool, again = take(pool, 2, 1)
    assert (pool.epochs, again.epochs) == ((2, 1, 0, 0), (2,))


def test_a_right_of_before_moves_nothing():
    """The page changed hands: whoever held it then cannot release it now."""
    pool, old = take(empty_pool(4), 1, 2)
    pool, _ = take(move(pool, old, Move.RELEASE), 2, 2)
    for how in Move:
        with pytest.raises(Violation, match="illegal-page-move"):
            move(pool, old, how)


def test_no_more_is_leased_than_was_admitted_or_is_free():
    """An admission is for so many pages, and pages are there or not (I1)."""
    admitted = admit(2 * PAGE, capacity(8), 8, gate=Role.DECODE, rules=FENCED)
    for pages, pool in ((3, empty_pool(8)), (2, empty_pool(1))):
        with pytest.raises(Violation, match="I1"):
            lease(pool, admitted, RoomId(1), TenantId("A"), pages)


def test_no_pages_are_a_lease_too():
    """A prompt whose pages are all shared leases nothing, and nothing changes."""
    for reuse in Reuse:
        pool = empty_pool(4, reuse)
        admitted = admit(PAGE, capacity(8), 8, gate=Role.PREFILL, rules=FENCED)
        assert lease(pool, admitted, RoomId(1), TenantId("A"), 0) == (pool, leases(1, "A", 0))


@pytest.mark.parametrize(
    "broken",
    [
        {"free_order": (0, 1)},
        {"free_order": (0, 1, 2, 2)},
        {"free_order": (0, 1, 2, 3, 3)},
        {"free_order": (0, 1, 3, 3)},
        {"states": (Free(), Free(), Free(), Quarantined(TenantId("A"), Check.DIGEST))},
    ],
    ids=str,
)
def test_accounts_that_do_not_add_up_are_noticed(broken):
    """A free page that cannot be handed out, one that would be twice, one that is not free."""
    check_conservation(empty_pool(4))
    with pytest.raises(Violation, match="conservation"):
        check_conservation(replace(empty_pool(4), **broken))


def test_a_pool_prints_counts_and_nobodys_name():
    """What goes into logs."""
    pool, held = take(empty_pool(4), 1, 2, tenant="a secret key")
    assert repr(move(pool, held, Move.FILL)) == "Pool(4 pages: 2 filling, 2 free)"
