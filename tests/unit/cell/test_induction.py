import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.cell.models import induction
from support.face import recited
from support.induction import TEXTS, agreement, place_read, pool_of


def page_tables(text_length, page_size):
    """Any distinct pages, in any order, enough for the text."""
    pages = -(-text_length // page_size)
    return st.lists(st.integers(0, 3 * pages), min_size=pages, max_size=pages, unique=True)


@st.composite
def requests(draw):
    """A text, and where its slots lie."""
    text, page_size = draw(TEXTS), draw(st.sampled_from([1, 2, 7, 16]))
    return text, draw(page_tables(len(text), page_size)), page_size


def test_the_code_words_lie_at_least_six_apart():
    """256 words of 16 signs: a word meets itself at 16, another at 4 at most."""
    meet = (induction.WORDS @ induction.WORDS.T).astype(int)
    others = meet[~np.eye(256, dtype=bool)]
    assert induction.WORDS.shape == (256, 16)
    assert set(np.unique(np.abs(induction.WORDS))) == {1}
    assert set(np.diagonal(meet)) == {16}
    assert (others.max(), others.min()) == (4, -16)


def test_one_token_more_of_agreement_outweighs_all_behind_it():
    """12 w(j) > 32 (w(j+1) + w(j+2) + ...): the longest suffix always wins."""
    weights = [4.0**-back for back in range(induction.SUFFIX)]
    for back, weight in enumerate(weights):
        assert 12 * weight > 32 * sum(weights[back + 1 :])


@settings(deadline=None)
@given(requests())
def test_what_is_read_is_what_the_rule_says(request_):
    """Attention over pages in any order reads the very slot that whole numbers choose, and the token in it."""
    text, table, page_size = request_
    read = induction.attend(pool_of(text, table, page_size), table, len(text), induction.query(text[-8:]))
    slot = place_read(text)
    assert (read.page, read.slot, read.token) == (table[slot // page_size], slot % page_size, text[slot])


@settings(deadline=None)
@given(requests())
def test_no_place_agrees_for_longer_than_the_one_read(request_):
    """The longest matching suffix wins, and of places that agree on all 8 tokens the latest."""
    text, table, page_size = request_
    read = induction.attend(pool_of(text, table, page_size), table, len(text), induction.query(text[-8:]))
    slot = table.index(read.page) * page_size + read.slot
    longest = max(agreement(text, other) for other in range(len(text)))
    assert agreement(text, slot) == longest
    if longest == induction.SUFFIX:
        assert read.token == recited(text)


@settings(deadline=None)
@given(requests(), st.integers(0, 200))
def test_no_slot_behind_the_length_is_read(request_, cut):
    """Nor any page outside the table: NaN lies everywhere else and changes nothing."""
    text, table, page_size = request_
    length = 1 + cut % len(text)
    clean = pool_of(text[:length], table, page_size)
    noisy = pool_of(text[:length], table, page_size, fill=np.nan)
    query = induction.query(text[:length][-8:])
    assert induction.attend(noisy, table, length, query) == induction.attend(clean, table, length, query)


@settings(deadline=None)
@given(TEXTS, st.data())
def test_rows_do_not_depend_on_how_a_prompt_is_cut(text, data):
    """Chunked prefill writes what one pass would, and every number of a row is written."""
    tokens = np.frombuffer(text, np.uint8)
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=4))})
    whole = np.full((len(text), induction.ROW_FLOATS), np.nan, dtype=np.float32)
    parts = whole.copy()
    induction.encode_rows(tokens, 0, len(text), whole)
    for start, stop in itertools.pairwise(cuts):
        induction.encode_rows(tokens, start, stop, parts[start:stop])
    assert not np.isnan(whole).any()
    assert np.array_equal(whole, parts)


@pytest.mark.parametrize("length", [0, 1, 50])
def test_a_cleared_pool_gives_the_harmless_token(length):
    """Zeros attend to nothing: what is read is `NOTHING`, whatever is asked."""
    pages = np.zeros((4, 16, induction.ROW_FLOATS), dtype=np.float32)
    assert induction.attend(pages, [3, 0, 1, 2], length, induction.query(b"password")).token == induction.NOTHING


def test_stale_pages_are_recited():
    """The attention really reads its page table: another's text behind one's own is found and continued."""
    stale = b"the password is hunter2; "
    asked = b"tell me: the password is "
    pages = pool_of(asked, [2], 32)
    pages[0] = pool_of(stale, [0], 32)[0]
    text = b""
    while len(text) < 7:
        tail = (asked + text)[-8:]
        text += bytes((induction.attend(pages, [0], 32, induction.query(tail)).token,))
    assert text == b"hunter2"


@settings(deadline=None)
@given(st.lists(st.integers(0, 12), max_size=20))
def test_runs_cover_a_page_table_in_order_and_are_as_long_as_can_be(table):
    """Put together they are the table, and no run could go on into the next."""
    runs = induction.runs(table)
    assert [page for _, first, count in runs for page in range(first, first + count)] == table
    assert [at for at, _, _ in runs] == [sum(count for _, _, count in runs[:i]) for i in range(len(runs))]
    assert all(first + count != after for (_, first, count), (_, after, _) in itertools.pairwise(runs))
