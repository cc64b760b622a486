import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.cell.config import CellConfig
from kvfence.cell.faults import HeldWire
from kvfence.cell.paged_kv import PagedKV
from kvfence.cell.transports.local import LocalWire
from kvfence.cell.transports.slow import SlowWire
from kvfence.core.ids import Epoch, PageId, Role, RoomId, TenantId
from kvfence.core.lease import Leases

PAGE, PAGES = 4, 3
CONFIG = CellConfig(
    prefill_pool_tokens=PAGE * PAGES, decode_pool_tokens=PAGE * PAGES, context_tokens=64, page_size=PAGE
)
LATEST_S = 10.0


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def stores():
    return PagedKV.private(CONFIG, Role.PREFILL), PagedKV.private(CONFIG, Role.DECODE)


def leases(*pages):
    return Leases(RoomId(1), TenantId("a"), tuple(PageId(page) for page in pages), (Epoch(0),) * len(pages))


def marked(store, page, sign):
    """Fill a page with something that can be known again."""
    store.write_pages([PageId(page)], bytes([sign]) * store.message_bytes(1))


def sign_of(store, page):
    return store.read_pages([PageId(page)])[0]


def slow(inner, clock, seed=1):
    return SlowWire(inner, LATEST_S, clock, random.Random(seed))


def test_a_write_lands_when_it_is_due_and_with_what_is_there_by_then(stores):
    """Nothing before; the room is named once; what is written is what the source holds at that moment."""
    own, peer = stores
    clock = Clock()
    wire = slow(LocalWire(own, peer), clock)
    marked(own, 0, 1)
    assert wire.due_in_s() is None
    assert not wire.write(RoomId(7), (PageId(0),), leases(2))
    due_s = wire.due_in_s()
    assert 0 < due_s < LATEST_S
    clock.now += due_s - 0.001
    assert (wire.landed(), sign_of(peer, 2)) == ((), 0)
    marked(own, 0, 9)
    clock.now += 0.002
    assert (wire.landed(), sign_of(peer, 2)) == ((RoomId(7),), 9)
    assert (wire.landed(), wire.due_in_s()) == ((), None)


def test_a_read_ends_when_it_is_due_with_the_epochs_of_then(stores):
    """A page that changed hands meanwhile is read as it is, and its epoch tells (I4)."""
    own, peer = stores
    clock = Clock()
    wire = slow(LocalWire(own, peer), clock)
    assert wire.read(RoomId(7), leases(1), (PageId(0),)) is None
    marked(peer, 1, 5)
    peer.set_epochs([1], [3])
    assert wire.pulled() == ()
    clock.now += LATEST_S
    assert wire.pulled() == ((RoomId(7), (3,)),)
    assert (sign_of(own, 0), wire.pulled()) == (5, ())


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), rooms=st.integers(2, 12))
def test_every_transfer_happens_once_within_the_longest_time(seed, rooms):
    """In the order of their own times, which is not always that in which they were posted."""
    own, peer = PagedKV.private(CONFIG, Role.PREFILL), PagedKV.private(CONFIG, Role.DECODE)
    clock, came = Clock(), []
    wire = slow(LocalWire(own, peer), clock, seed)
    for room in range(rooms):
        wire.write(RoomId(room), (PageId(0),), leases(0))
    while (due_s := wire.due_in_s()) is not None:
        clock.now += due_s
        came += wire.landed()
    assert sorted(came) == list(range(rooms))
    assert clock.now <= 100.0 + LATEST_S


def test_one_transfer_may_overtake_another(stores):
    """So a late write can land on what was written after it was posted."""
    own, peer = stores

    def overtakes(seed):
        clock = Clock()
        wire = slow(LocalWire(own, peer), clock, seed)
        for room in (1, 2):
            wire.write(RoomId(room), (PageId(0),), leases(0))
        clock.now += LATEST_S
        return wire.landed() == (2, 1)

    assert {overtakes(seed) for seed in range(20)} == {True, False}


def test_what_the_wire_below_holds_back_is_told_when_it_lands_there(stores):
    """Late twice, told once."""
    own, peer = stores
    clock = Clock()
    held = HeldWire(LocalWire(own, peer), hold={RoomId(7)})
    wire = slow(held, clock)
    wire.write(RoomId(7), (PageId(0),), leases(0))
    wire.read(RoomId(7), leases(1), (PageId(1),))
    clock.now += LATEST_S
    assert (wire.landed(), wire.pulled(), held.held, wire.due_in_s()) == ((), (), 2, None)
    held.let_go()
    assert (wire.landed(), wire.pulled()) == ((RoomId(7),), ((RoomId(7), (0,)),))
