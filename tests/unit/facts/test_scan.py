"""Bytes to candidate lines."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from kvfence.facts.read_log import log_anchors, read_log, understood
from kvfence.facts.scan import LINE_BYTES_MAX, candidates
from kvfence.facts.wrapping import unwrap
from support.audit_logs import CELL_START, HEADLINE, LOGS, body

HIT = HEADLINE.format(rank="", pool=64, context=512).encode()


@given(st.lists(st.sampled_from([b"noise", b"", b"\r", HIT, b"KV x"]), max_size=40), st.booleans())
def test_exactly_the_lines_with_a_stem_are_candidates(lines: list[bytes], ended: bool):
    """Each line with a stem comes once, in order, under its own number."""
    content = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    expected = [(n, line) for n, line in enumerate(lines, 1) if log_anchors().stands_in(line)]
    found = [(candidate.number, candidate.pieces[0]) for candidate in candidates(io.BytesIO(content), log_anchors())]
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
    (candidate,) = candidates(io.BytesIO(text), log_anchors())
    assert sum(map(len, candidate.pieces)) <= LINE_BYTES_MAX
    assert candidate.cut


def test_a_partial_line_that_never_ends_is_held_in_bounds():
    """Pieces marked as partial are put together up to the limit and not beyond."""
    piece = b"2026-12-01T10:00:00Z stdout P server_args=" + b"x" * 16000 + b"\n"
    found = list(candidates(io.BytesIO(piece * 300), log_anchors()))
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
