"""Times of the past in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.report.times import after, at_utc, shown_utc, span_of


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (90_061, "1 d 1 h"), (86_400, "1 d")],
)
def test_a_span_has_its_two_largest_units(seconds, said):
    """In both directions."""
    assert span_of(seconds * 1000) == span_of(-seconds * 1000) == said


def test_a_time_is_utc():
    """As a spreadsheet reads it, and in a sentence."""
    assert at_utc(1_787_911_200_000) == "2026-08-28 10:00:00"
    assert shown_utc(1_787_911_200_000) == "2026-08-28 10:00 UTC"
    assert (at_utc(None), shown_utc(None), after(None)) == ("", "at an unknown time", "")
    assert (after(60_000), after(-60_000)) == ("1 min later", "1 min before")


@given(st.integers())
def test_no_number_is_an_error(ms):
    """A log may say any."""
    assert at_utc(ms)
    assert shown_utc(ms)
    assert span_of(ms)
