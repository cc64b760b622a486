"""A number may be left open only where no other one in its place makes the line another message."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.facts.idle_numbers import open_numbers, says_the_same
from kvfence.facts.read_log import log_anchors

STEMS = log_anchors().stems
HEAD = "[2026-12-01 13:18:55] KV checksum mismatch req=1"


@pytest.mark.parametrize(
    ("tail", "same"),
    [
        (" room=7 expected=0x1f", True),
        (" nothing", False),
        (" 4 pool sizes: full=9", False),
        (" 7 pool sizes: full=9", False),
        (" a7 KV checksum skipped 1", False),
        (" \0 7", False),
        (" 1" * 17, False),
    ],
)
def test_a_tail_near_another_message_is_not_open(tail: str, *, same: bool):
    """Rooms and digests are; what is, or with another number would be, a stem is not."""
    assert says_the_same(HEAD + tail, len(HEAD), STEMS) is same


def test_without_stems_nothing_is_open():
    """Who does not know what to look for leaves nothing open."""
    assert not says_the_same(f"{HEAD} 7", len(HEAD), ())


@given(st.text("0123456789abcdefxg_ .:=-'(", max_size=40), st.data())
def test_what_is_open_holds_the_numbers_of_the_line_and_others(text: str, data: st.DataObject):
    """The pattern fits its own line, and the line with any other number in the place of one."""
    pattern = re.compile(open_numbers(text.encode()))
    assert pattern.fullmatch(text.encode())
    other = data.draw(st.from_regex(r"[a-f]{0,3}[0-9][0-9a-f]{0,8}", fullmatch=True))
    words = re.split(r"((?<![A-Za-z0-9_])(?=[a-f]*[0-9])[0-9a-f]{1,40}(?![A-Za-z0-9_]))", text)
    changed = "".join(other if index % 2 else word for index, word in enumerate(words))
    assert pattern.fullmatch(changed.encode())


@given(
    st.sampled_from([stem.decode() for stem in STEMS]), st.text(" 0123456789abcdef", min_size=1, max_size=12), st.data()
)
def test_no_stem_can_come_out_of_an_open_number(stem: str, filling: str, data: st.DataObject):
    """Of a line that may be open, no choice of its numbers gives a stem that it did not have."""
    at = data.draw(st.integers(0, len(stem)))
    text = f"{HEAD} {stem[:at]}{filling}{stem[at + data.draw(st.integers(0, 3)) :]} 7"
    if says_the_same(text, len(HEAD), STEMS):
        assert not re.search(open_numbers(text[len(HEAD) :].encode()), stem.encode())
        for cut in range(len(stem)):
            for end in range(cut, min(cut + 6, len(stem)) + 1):
                line = HEAD + text[len(HEAD) :].replace(filling, stem[cut:end])
                if re.fullmatch(open_numbers(text[len(HEAD) :].encode()), line[len(HEAD) :].encode()):
                    assert sum(one.decode() in line for one in STEMS) == 1
