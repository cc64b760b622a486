"""Hashes are looked up in shelves: the same numbers as by a plain search, however the hashes lie."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kvfence.scan.foreign.index import ABSENT, POSTING, Index, shelves_of
from kvfence.scan.foreign.sieve import Sieve

some_hashes = st.one_of(
    st.integers(0, 2**64 - 1), st.integers(0, 50), st.integers(2**64 - 50, 2**64 - 1), st.integers(2**63 - 9, 2**63 + 9)
)


@given(st.sets(some_hashes, max_size=300), st.lists(some_hashes, max_size=50))
def test_each_hash_has_its_place_in_the_order_and_no_other_has_one(held, asked):
    """Also where all of them lie on one shelf, on the first or the last."""
    hashes = np.array(sorted(held), np.uint64)
    index = Index(
        hashes,
        np.arange(len(hashes) + 1),
        np.zeros(len(hashes), POSTING),
        Sieve(np.zeros(16, np.uint8)),
        shelves_of(hashes),
    )
    places = {one: number for number, one in enumerate(sorted(held))}
    looked_up = np.array([*asked, *held], np.uint64)
    assert index.numbers(looked_up).tolist() == [places.get(one, ABSENT) for one in looked_up.tolist()]
