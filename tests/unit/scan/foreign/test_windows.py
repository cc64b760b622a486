"""Windows of both sides meet in every run that is long enough, wherever it begins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.scan.foreign.runs import Run, shared_runs, standing_in
from kvfence.scan.foreign.windows import (
    ANSWER_STEP,
    PROBE_STEP,
    RUN_BYTES_MIN,
    WINDOW_BYTES,
    Hashing,
    octets_of,
    sparse_offsets,
    texts_of,
)
from support.foreign_texts import prose

HASHING = Hashing(key=7)
texts = st.text(max_size=90)
runs = st.builds(prose, st.integers(), st.integers(RUN_BYTES_MIN, RUN_BYTES_MIN + 40))
few = settings(max_examples=50, deadline=None)


def hashes(text, step, hashing=HASHING):
    octets = octets_of(text)
    return {first + step * at: int(one) for first, some in hashing.every(octets, step) for at, one in enumerate(some)}


@pytest.mark.parametrize("step", [1, 2, 4, 8])
@pytest.mark.parametrize("size", [0, 7, 31, 32, 33, 40, 8192 + 40, 3 * 8192 * 8 + 5])
def test_a_window_is_hashed_the_same_alone_and_among_many(step, size):
    """One by one, or all in a row in steps; and each that ends in the text is there."""
    text = np.random.default_rng(size).bytes(size)
    found = hashes(text, step)
    assert [*found] == [*range(0, size - WINDOW_BYTES + 1, step)]
    assert [*found.values()] == HASHING.at(octets_of(text), np.array([*found], np.int64)).tolist()


def test_a_hash_is_of_the_whole_window_and_of_the_key():
    """A byte more or less, anywhere, gives another; so does another key, and each half the bits."""
    window = bytes(range(WINDOW_BYTES))
    others = [window[:at] + bytes([window[at] ^ 1]) + window[at + 1 :] for at in range(WINDOW_BYTES)]
    found = [hashes(one, 1)[0] for one in [window, *others]] + [hashes(window, 1, Hashing(key=8))[0]]
    assert len({one >> 32 for one in found}) == len(found)
    assert hashes(window, 1, Hashing(key=7, bits=8))[0] == found[0] >> 56 << 56


@pytest.mark.parametrize("before", range(ANSWER_STEP))
@pytest.mark.parametrize("ahead", range(PROBE_STEP))
def test_a_run_of_the_promised_length_is_met_at_every_place(before, ahead):
    """Whatever its distance from the beginning of both texts."""
    run = np.random.default_rng(before).bytes(RUN_BYTES_MIN)
    answer, text = b"\x01" * before + run + b"\x02" * 9, b"\x03" * ahead + run + b"\x04" * 9
    assert Run(before, ahead, RUN_BYTES_MIN) in shared_runs(answer, text, HASHING)


@few
@given(texts, texts, runs, texts, texts)
def test_a_planted_run_is_found_whole_in_any_texts(before, ahead, run, behind, after):
    """In any UTF-8, and never less of it than there is in common."""
    answer, text = (f"{before}{run}{behind}").encode(), (f"{ahead}{run}{after}").encode()
    found = shared_runs(answer, text, HASHING)
    at, end = len(before.encode()), len(f"{before}{run}".encode())
    assert any(one.at <= at and one.end >= end for one in found)
    for one in found:
        assert answer[one.at : one.end] == text[one.source_at : one.source_at + one.size]


@few
@given(st.binary(max_size=200), st.binary(max_size=200), st.integers(0, 3))
def test_what_is_hashed_alike_and_is_different_is_no_run(answer, text, bits):
    """With hashes of 0 to 3 bits nearly all windows are alike; what is told is in both all the same."""
    hashing = Hashing(key=7, bits=bits)
    for run in shared_runs(answer, text, hashing):
        assert answer[run.at : run.end] == text[run.source_at : run.source_at + run.size]
    for at in np.flatnonzero(standing_in(answer, text, hashing)):
        assert any(answer[begin : begin + WINDOW_BYTES] in text for begin in range(max(0, at - 31), at + 1))


@few
@given(texts, texts, runs)
def test_a_stretch_that_stands_elsewhere_is_marked_whole(before, ahead, run):
    """And nothing is, that does not."""
    stretch = f"{before}{run}".encode()
    held = standing_in(stretch, f"{ahead}{run}!".encode(), HASHING)
    assert held[len(before.encode()) :].all()
    assert not standing_in(stretch, b"#" * 300, HASHING).any() or "#" * WINDOW_BYTES in before


@few
@given(st.lists(texts, max_size=5), st.integers(0, 2))
def test_the_texts_of_a_column_are_cut_where_they_begin(some, skipped):
    """Of a slice as well; and no window reaches over an end."""
    column = pa.array(some, pa.large_string()).slice(skipped)
    octets, begins = texts_of(column)
    encoded = [one.encode() for one in some[skipped:]]
    assert [octets[at:end].tobytes() for at, end in pairwise(begins)] == encoded
    rows, offsets = sparse_offsets(begins)
    expected = [
        (row, at) for row, one in enumerate(encoded) for at in range(0, len(one) - WINDOW_BYTES + 1, ANSWER_STEP)
    ]
    assert [*zip(rows.tolist(), (offsets - begins[rows]).tolist(), strict=True)] == expected


def test_texts_that_repeat_themselves_have_few_runs():
    """Though each of a million windows of one stands in ten thousand places of the other."""
    phrase = b"The quick brown fox. "
    runs = shared_runs(phrase * 1_000, phrase * 50_000, HASHING)
    assert (runs[0].at, runs[0].size) == (0, len(phrase) * 1_000)
    assert len(runs) == 1
