import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.cell.digests import digest_pages, seed_of
from kvfence.cell.store import PageStore

PAGES, PAGE_SIZE = 4, 2


@pytest.fixture
def store():
    filled = PageStore(PAGES, PAGE_SIZE)
    filled.pages[:] = np.random.default_rng(1).standard_normal(filled.pages.shape)
    return filled


@settings(deadline=None)
@given(page=st.integers(0, PAGES - 1), bit=st.integers(0, PAGE_SIZE * 576 * 8 - 1))
def test_one_bit_in_one_page_changes_that_pages_digest_alone(page, bit):
    """Wherever it lies, first and last included."""
    store = PageStore(PAGES, PAGE_SIZE)
    before = digest_pages(store, range(PAGES), 7)
    store.pages.view(np.uint8).reshape(PAGES, -1)[page, bit // 8] ^= 1 << bit % 8
    after = digest_pages(store, range(PAGES), 7)
    assert [old != new for old, new in zip(before, after, strict=True)] == [other == page for other in range(PAGES)]


def test_digests_come_in_the_order_asked_for(store):
    """16 bytes each, of what is in those pages."""
    in_order = digest_pages(store, range(PAGES), 7)
    assert digest_pages(store, [2, 0], 7) == (in_order[2], in_order[0])
    assert {len(digest) for digest in in_order} == {16}
    assert len(set(in_order)) == PAGES


def test_equal_pages_of_two_rooms_have_different_digests(store):
    """A manifest of one room fits no pages of another; zeros are no exception."""
    store.scrub([1])
    assert not set(digest_pages(store, range(PAGES), seed_of(1))) & set(digest_pages(store, range(PAGES), seed_of(2)))


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**63), unique=True, max_size=50))
def test_every_room_has_its_seed(rooms):
    """64 bits, the same whenever it is asked for."""
    seeds = [seed_of(room) for room in rooms]
    assert len(set(seeds)) == len(rooms)
    assert seeds == [seed_of(room) for room in rooms]
    assert all(0 <= seed < 2**64 for seed in seeds)
