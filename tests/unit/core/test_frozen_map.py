"""A mapping that does not change, in order, hashable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.core.frozen_map import FrozenMap

ENTRIES = st.dictionaries(st.integers(0, 9), st.integers(0, 3), max_size=6)


@given(ENTRIES, st.integers(0, 9), st.integers(0, 3))
def test_setting_makes_another_one_in_which_the_key_keeps_its_place(entries, key, value):
    """As a dict does it; the old one is as it was."""
    before = FrozenMap(entries)
    assert list(before.with_(key, value).items()) == list((entries | {key: value}).items())
    assert list(before.items()) == list(entries.items())


@given(ENTRIES, st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=4))
def test_setting_all_puts_them_last_in_their_order(entries, pairs):
    """What was set last is the youngest."""
    after = FrozenMap(entries).with_all(pairs)
    assert dict(after) == entries | dict(pairs)
    last = list(dict(reversed(pairs)))[::-1]
    assert list(after) == [key for key in entries if key not in last] + last


@given(ENTRIES, st.lists(st.integers(0, 9), max_size=4))
def test_taking_out_is_of_what_is_there(entries, keys):
    """A key that is not there is fine; order and length follow."""
    after = FrozenMap(entries).without(*keys)
    assert list(after.items()) == [(key, value) for key, value in entries.items() if key not in keys]
    assert len(after) == len(dict(after))


@given(ENTRIES, ENTRIES)
def test_equal_ones_have_one_hash_and_order_counts(one, other):
    """Two are equal when their entries are, in order; then so are their hashes."""
    a, b = FrozenMap(one), FrozenMap(other)
    assert (a == b) is (list(one.items()) == list(other.items()))
    assert a != one
    assert hash(a) == hash(FrozenMap(list(one.items()))) == hash(a)
    assert a != b or hash(a) == hash(b)


def test_it_has_no_way_to_change():
    """No item can be set, and nothing of its content is printed."""
    made = FrozenMap({"a tenant": 1})
    with pytest.raises(TypeError):
        made["other"] = 2
    assert repr(made) == "FrozenMap(1 entries)"
