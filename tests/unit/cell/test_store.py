import multiprocessing
import subprocess
import sys
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.cell.store import PageStore

PAGES, PAGE_SIZE = 8, 2
PAGE_IDS = st.lists(st.integers(0, PAGES - 1), unique=True)

SERVER = """
import multiprocessing
from kvfence.cell.store import PageStore

def worker(name):
    store = PageStore.attach(name, 4, 2)
    store.pages[1] = 5
    store.set_epochs([1], [9])
    store.close()

if __name__ == "__main__":
    store = PageStore.create_shared(4, 2)
    child = multiprocessing.get_context("spawn").Process(target=worker, args=(store.segment_name,))
    child.start()
    child.join()
    print(store.pages.sum(axis=(1, 2)).tolist(), store.epochs_of([0, 1]), store.segment_name)
    store.close(unlink=True)
"""


def numbered(base=0):
    """A store whose page p is filled with base + p."""
    store = PageStore(PAGES, PAGE_SIZE)
    store.pages[:] = base + np.arange(PAGES, dtype=np.float32)[:, None, None]
    return store


def contents(store):
    """The number that fills each page."""
    assert all(len(np.unique(page)) == 1 for page in store.pages)
    return [int(page[0, 0]) for page in store.pages]


@settings(deadline=None)
@given(PAGE_IDS, st.randoms(use_true_random=False))
def test_copied_pages_hold_what_the_source_held_and_no_other_changes(own_ids, chance):
    """Whatever runs there are on either side."""
    source, own = numbered(100), numbered()
    source_ids = chance.sample(range(PAGES), len(own_ids))
    own.copy_pages(source, source_ids, own_ids)
    taken = dict(zip(own_ids, source_ids, strict=True))
    assert contents(own) == [100 + taken[page] if page in taken else page for page in range(PAGES)]
    assert contents(source) == list(range(100, 100 + PAGES))


@settings(deadline=None)
@given(PAGE_IDS)
def test_scrubbed_pages_are_zero_and_no_other_changes(page_ids):
    """Epochs stay as they are: they are the accounts', not the bytes'."""
    store = numbered(1)
    store.set_epochs(range(PAGES), range(10, 10 + PAGES))
    store.scrub(page_ids)
    assert contents(store) == [0 if page in page_ids else 1 + page for page in range(PAGES)]
    assert store.epochs_of(range(PAGES)) == tuple(range(10, 10 + PAGES))


def test_a_page_travels_as_bytes():
    """What is read of one page and written to another is the same page; reading copies nothing."""
    source, own = numbered(3), numbered()
    read = source.read_page(4)
    own.write_page(0, bytes(read))
    assert contents(own)[:2] == [7, 1]
    source.pages[4] = 9
    own.write_page(1, read)
    assert contents(own)[:2] == [7, 9]


@pytest.mark.parametrize("size", [0, 1, PAGE_SIZE * 576 - 4, PAGE_SIZE * 576 + 4])
def test_bytes_that_are_no_page_are_not_written(size):
    """A short or a long page raises, and nothing is overwritten."""
    store = numbered()
    with pytest.raises(ValueError, match=r"buffer|reshape"):
        store.write_page(2, b"\1" * size)
    assert contents(store) == list(range(PAGES))


def test_two_processes_see_one_pool_and_leave_nothing_behind(tmp_path):
    """A spawned worker writes pages and epochs; its end does not take the segment along, and nobody complains."""
    program = tmp_path / "server.py"
    program.write_text(SERVER, encoding="utf-8")
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    filled, _, name = ran.stdout.strip().rpartition(" ")
    assert filled == f"{[0.0, 5.0 * 2 * 144, 0.0, 0.0]} (0, 9)"
    with pytest.raises(FileNotFoundError):
        SharedMemory(name=name)


def test_a_new_shared_pool_is_clear_and_closes_twice():
    """Nothing of another segment shows; after closing there are no pages."""
    store = PageStore.create_shared(PAGES, PAGE_SIZE)
    try:
        assert not store.pages.any()
        assert not store.epochs.any()
        other = PageStore.attach(store.segment_name, PAGES, PAGE_SIZE)
        store.pages[3] = 1
        assert other.pages[3].all()
        other.close()
    finally:
        store.close(unlink=True)
    store.close(unlink=True)
    assert store.segment_name == ""
    assert len(store.pages) == 0
    assert multiprocessing.active_children() == []
