"""The digest of logical keys and values: what it does not depend on, and what it does."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.engines.digest.layout import Layer
from kvfence.engines.digest.mixing import seed_of, summed
from kvfence.engines.digest.on_cpu import digest_pages
from kvfence.errors import UnsupportedError

SPEC = Path(__file__).parents[3] / "docs" / "spec"


@st.composite
def prompts(draw):
    """Logical keys and values (layer, token, head, byte of key and value), and how they lie in pages."""
    layers, heads = draw(st.integers(1, 3)), draw(st.sampled_from([1, 2, 4]))
    slots, tokens = draw(st.sampled_from([1, 2, 8])), draw(st.integers(1, 20))
    row = draw(st.sampled_from([16, 64, 256]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random.integers(0, 256, (layers, tokens, heads, row), dtype=np.uint8), slots, random


def laid(logical, slots, random, *, joint=True, heads_outside=True, first=0, last=None):
    """The layers of one rank with these heads, in pages in a random order of a pool that holds other bytes."""
    logical = logical[:, :, first:last]
    _, tokens, heads, row = logical.shape
    count = -(-tokens // slots)
    page_ids = random.permutation(count + 3)[:count].tolist()
    layers = []
    for index, values in enumerate(logical):
        pool = random.integers(0, 256, (count + 3, slots, heads, row), dtype=np.uint8)
        for token, rows in enumerate(values):
            pool[page_ids[token // slots], token % slots] = rows
        parts = (pool,) if joint else (pool[..., : row // 2].copy(), pool[..., row // 2 :].copy())
        if heads_outside:
            parts = tuple(np.ascontiguousarray(part.swapaxes(1, 2)).swapaxes(1, 2) for part in parts)
        layers.append(Layer(index=index, first_head=first, parts=parts))
    return layers, page_ids


def digests(logical, slots, random, *, seed=5, joint=True, heads_outside=True, first=0, last=None):
    how = {"joint": joint, "heads_outside": heads_outside, "first": first, "last": last}
    layers, page_ids = laid(logical, slots, random, **how)
    return digest_pages(layers, page_ids, tokens=logical.shape[1], seed=seed)


@given(prompts(), st.booleans(), st.booleans())
def test_where_and_how_it_lies_makes_no_difference(prompt, joint, heads_outside):
    """Neither the order of pages, nor what lies in slots that hold no token, nor the layout of a row is digested."""
    assert digests(*prompt, joint=joint, heads_outside=heads_outside) == digests(*prompt)


@given(prompts(), st.integers(1, 3))
def test_ranks_add_up_to_the_whole(prompt, split):
    """However the heads are divided, the shares of the ranks make the digest of one rank with all of them."""
    logical, slots, random = prompt
    heads = logical.shape[2]
    cuts = sorted({0, min(split, heads), heads})
    shares = [digests(logical, slots, random, first=first, last=last) for first, last in pairwise(cuts)]
    assert summed(shares) == digests(*prompt)


@given(prompts(), st.data())
def test_a_changed_bit_changes_its_page_and_no_other(prompt, data):
    """Each bit of each row is digested, and a page's digest is of its own tokens alone."""
    logical, slots, random = prompt
    before = digests(*prompt)
    place = tuple(data.draw(st.integers(0, size - 1)) for size in logical.shape)
    logical[place] ^= 1 << data.draw(st.integers(0, 7))
    after = digests(logical, slots, random)
    page = place[1] // slots
    assert [before == after for before, after in zip(before, after, strict=True)] == [
        number != page for number in range(len(before))
    ]


@pytest.mark.parametrize("axis", [0, 1, 2], ids=["layers", "tokens", "heads"])
def test_the_order_of_layers_tokens_and_heads_is_digested(axis):
    """A sum does not see an order; the place of each unit is in it."""
    logical = np.random.default_rng(1).integers(0, 256, (2, 16, 2, 64), dtype=np.uint8)
    turned = np.flip(logical, axis=axis).copy()
    whole = [digests(one, 8, np.random.default_rng(2)) for one in (logical, turned)]
    assert not set(whole[0]) & set(whole[1])


def test_equal_pages_of_one_prompt_have_digests_of_their_own():
    """The number of the page in the prompt is digested, so that two of them cannot be swapped."""
    logical = np.zeros((1, 16, 1, 64), dtype=np.uint8)
    one, other = digests(logical, 8, np.random.default_rng(3))
    assert one != other


def test_a_page_with_fewer_tokens_is_another_page():
    """Zeros behind a short unit do not make it the longer one."""
    logical = np.zeros((1, 2, 1, 64), dtype=np.uint8)
    assert digests(logical, 8, np.random.default_rng(3)) != digests(logical[:, :1], 8, np.random.default_rng(3))


@given(prompts())
def test_another_seed_is_another_digest(prompt):
    """What a handoff is bound to changes every page."""
    assert not set(digests(*prompt, seed=5)) & set(digests(*prompt, seed=6))


def test_a_seed_is_of_its_key_and_its_binding():
    """Both are in it."""
    seeds = {seed_of(b, key=k) for b in (b"room 1", b"room 2") for k in (b"k" * 16, b"l" * 16)}
    assert len(seeds) == 4


def test_a_row_that_is_no_whole_words_is_refused():
    """A kernel that reads words cannot read it, so none may be defined for it."""
    with pytest.raises(UnsupportedError, match="rows of \\[12\\] bytes"):
        Layer(index=0, first_head=0, parts=(np.zeros((1, 1, 1, 12), dtype=np.uint8),))


@pytest.mark.parametrize("pages", [0, 1, 3])
def test_a_number_of_pages_that_the_tokens_do_not_have_is_refused(pages):
    """Too few would leave tokens out, too many would digest what nobody wrote."""
    layer = Layer(index=0, first_head=0, parts=(np.zeros((4, 8, 1, 64), dtype=np.uint8),))
    with pytest.raises(ValueError, match="16 tokens lie in 2 pages of 8"):
        digest_pages([layer], range(pages), tokens=16, seed=1)


def test_the_vectors_of_the_specification_are_met():
    """Another engine is right if it gives these; so is this one."""
    for vector in json.loads((SPEC / "kv-digest-vectors.json").read_text(encoding="utf-8")):
        layers = [
            Layer(index=index, first_head=vector["first_head"], parts=(rows,))
            for index, rows in enumerate(rows_of(vector))
        ]
        pages = digest_pages(layers, range(len(vector["digests"])), tokens=vector["tokens"], seed=vector["seed"])
        assert [f"{high:016x}{low:016x}" for low, high in pages] == vector["digests"]


def rows_of(vector):
    """Byte number i of a vector's keys and values is (i * 131 + 17) mod 251, in the order layer, token, head, byte."""
    shape = tuple(vector[name] for name in ("layers", "tokens", "heads", "row_bytes"))
    logical = ((np.arange(np.prod(shape)) * 131 + 17) % 251).astype(np.uint8).reshape(shape)
    slots = vector["slots"]
    short = -vector["tokens"] % slots
    filled = np.pad(logical, ((0, 0), (0, short), (0, 0), (0, 0)), constant_values=0xEE)
    return filled.reshape(shape[0], -1, slots, *shape[2:])
