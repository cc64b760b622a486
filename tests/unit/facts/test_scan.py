"""Bytes to candidate lines."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.facts.anchors import Anchors
from kvfence.facts.read_log import log_anchors, read_log, understood
from kvfence.facts.recurring import Recurring
from kvfence.facts.scan import LINE_BYTES_MAX, candidates
from kvfence.facts.wrapping import unwrap
from support.audit_logs import CELL_START, HEADLINE, LOGS, body, lines_found

HIT = HEADLINE.format(rank="", pool=64, context=512).encode()


@given(st.lists(st.sampled_from([b"noise", b"", b"\r", HIT, b"KV x"]), max_size=40), st.booleans())
def test_exactly_the_lines_with_a_stem_are_candidates(lines: list[bytes], ended: bool):
    """Each line with a stem comes once, in order, under its own number."""
    content = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    expected = [(n, line) for n, line in enumerate(lines, 1) if log_anchors().stands_in(line)]
    found = [
        (candidate.number, candidate.pieces[0])
        for candidate in candidates(io.BytesIO(content), log_anchors(), Recurring())
    ]
    assert found == expected


def test_every_line_that_a_reader_understands_has_a_stem():
    """No line of the corpus that says something is lost by the search for stems."""
    for log in LOGS:
        for line in body(log).splitlines():
            if understood(unwrap((line,)).text):
                assert log_anchors().stands_in(line), line[:200]


def test_a_line_longer_than_the_limit_is_read_to_the_limit_and_told():
    """A line of three mebibytes gives what stands at its head, the next line its own facts, and a note."""
    text = HIT + b", " + b"x" * (3 * LINE_BYTES_MAX) + b"\n" + b"noise\n" + HIT.replace(b"=64", b"=63") + b"\n"
    read = read_log(io.BytesIO(text), file="f", fallback_name="n")
    assert [node.facts["pool_tokens"].seen.line for node in read.nodes] == [1, 3]
    assert "line 1 is longer than 1 MiB" in read.gaps[0]


def test_a_source_that_never_ends_a_line_is_held_in_bounds():
    """Of ten mebibytes without a newline not more than a line's limit is kept."""
    text = b"server_args=" * (10 * (1 << 20) // 12)
    (candidate,) = candidates(io.BytesIO(text), log_anchors(), Recurring())
    assert sum(map(len, candidate.pieces)) <= LINE_BYTES_MAX
    assert candidate.cut


def test_a_partial_line_that_never_ends_is_held_in_bounds():
    """Pieces marked as partial are put together up to the limit and not beyond."""
    piece = b"2026-12-01T10:00:00Z stdout P server_args=" + b"x" * 16000 + b"\n"
    found = list(candidates(io.BytesIO(piece * 300), log_anchors(), Recurring()))
    assert all(sum(map(len, candidate.pieces)) <= LINE_BYTES_MAX + 20_000 for candidate in found)


def test_a_number_at_the_end_of_an_unended_log_is_not_claimed():
    """`Using max model len 3276` at the very end may be the head of 32768."""
    line = b"INFO 08-20 12:00:00 [config.py:1] Using max model len 3276"
    assert read_log(io.BytesIO(line), file="f", fallback_name="n").nodes == ()
    assert read_log(io.BytesIO(line + b"\n"), file="f", fallback_name="n").nodes


def test_a_cells_line_without_a_newline_is_whole():
    """The cell's last pair is a list of checks; without a newline it still counts if it ends in a known check."""
    line = CELL_START.format(role="prefill", rules="fenced", pool=1008, checks="I1,I2-count")
    (whole,) = read_log(io.BytesIO(line.encode()), file="f", fallback_name="n").nodes
    (cut,) = read_log(io.BytesIO(line[:-3].encode()), file="f", fallback_name="n").nodes
    assert (whole.text("checks"), cut.text("checks")) == ("I1,I2-count", None)


def test_bytes_that_are_no_text_do_not_hide_a_fact():
    """Invalid UTF-8 around a headline leaves its facts."""
    (node,) = read_log(io.BytesIO(b"\xff\xfe\n" + HIT + b"\n\xc3("), file="f", fallback_name="n").nodes
    assert node.number("pool_tokens") == 64


STEMS = st.lists(st.binary(min_size=11, max_size=20).filter(lambda stem: b"\n" not in stem), min_size=1, max_size=8)


@settings(deadline=None)
@given(st.data(), STEMS, st.integers(0, 3))
def test_a_stem_is_found_wherever_it_stands(data: st.DataObject, stems: list[bytes], before: int):
    """Every line with a stem of any bytes is found, at any offset and beside anything; no other line is."""
    inside = st.lists(st.one_of(st.sampled_from(stems), st.binary(max_size=12)), max_size=4)
    lines = [b"".join(parts).replace(b"\n", b"") for parts in data.draw(st.lists(inside, max_size=12))]
    body = b"x" * before + b"".join(line + b"\n" for line in lines)
    found = lines_found(Anchors.of(stems), body)
    starts = [0, *(at + 1 for at, byte in enumerate(body[:-1]) if byte == ord("\n"))] if body.endswith(b"\n") else []
    held = [at for at in starts if any(stem in body[at : body.index(b"\n", at)] for stem in stems)]
    assert found == held


def test_a_stem_across_two_portions_is_found():
    """Where a portion of the search ends within a stem, at any of its bytes, the stem is found."""
    anchors = Anchors.of([b"max_total_num_tokens="])
    for before in range(4 * 16_384 - 24, 4 * 16_384 + 4):
        assert lines_found(anchors, b"." * before + b"max_total_num_tokens=1\n") == [0]


def test_a_stem_that_is_too_short_is_refused():
    """A stem of ten bytes could stand where it has no whole pair of words."""
    with pytest.raises(ValueError, match="too short"):
        Anchors.of([b"0123456789"])
