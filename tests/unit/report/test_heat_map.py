"""The map of recall: figures that say all and none only when it is so, colours that are told apart, plain ASCII."""

from __future__ import annotations

import io
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from kvfence.findings.depth_recall import DepthRecall
from kvfence.findings.recall import LengthVerdict, ProbeResult
from kvfence.report.heat_map import ALL, BLACK, NONE, colour, contrast, depth_percents, heat_rows, ink, percent
from kvfence.report.heat_terminal import show_heat
from support.probe_results import probe_of, row_of

SHARES = st.fractions(0, 1).map(float)
READABLE = 4.5
"""The contrast that WCAG 2.1 asks of text (level AA)."""
LEVELS_APART = 40
"""Of 255: how far the ends of the scale are from one another in blue, which red-green blindness leaves."""


def shown(result: ProbeResult, **console: object) -> str:
    page = io.StringIO()
    show_heat(result, Console(file=page, **{"width": 100, **console}))
    return page.getvalue()


@given(st.integers(1, 1000), st.data())
def test_a_hundred_is_all_and_zero_is_none(answers: int, data: st.DataObject):
    """However near: 999 of 1,000 is 99, and 1 of 1,000 is 1; between, a percent off at most."""
    count = data.draw(st.integers(0, answers))
    figure = percent(count / answers)
    assert (figure == 100) == (count == answers)
    assert (figure == 0) == (count == 0)
    assert abs(figure - 100 * Fraction(count, answers)) <= 1


@given(SHARES)
def test_every_figure_stands_out_from_its_cell(share: float):
    """Black or white on the cell's colour reaches what WCAG asks of text."""
    assert contrast(ink(colour(share)), colour(share)) >= READABLE


def test_the_ends_are_told_apart_without_red_and_green():
    """All and none differ clearly in blue alone; black on white is 21, as WCAG says."""
    assert abs(colour(0)[2] - colour(1)[2]) >= LEVELS_APART
    assert (colour(0), colour(1)) == (NONE, ALL)
    assert contrast(BLACK, (255, 255, 255)) == pytest.approx(21)


def test_markers_stand_in_the_middle_of_equal_parts():
    """As the prompt's builder puts them."""
    assert depth_percents(5) == (10, 30, 50, 70, 90)
    assert depth_percents(1) == (50,)


def test_answers_of_one_length_are_one_row():
    """From whatever manner of asking; lengths rise."""
    rows = (
        row_of(LengthVerdict.LOST, 5000, by_depth=DepthRecall((1, 0, 1, 0, 1), 1)),
        row_of(LengthVerdict.CLEAN, 900, scenario="concurrent"),
        row_of(LengthVerdict.CLEAN, 5000, scenario="concurrent"),
    )
    found = heat_rows(probe_of(*rows))
    assert [(row.tokens, row.recall.answers) for row in found] == [(768, 1), (900, 1), (5000, 2)]
    assert found[-1].recall.shares == (1, 0.5, 1, 0.5, 1)


def test_the_map_on_a_pipe_is_plain_ascii():
    """No colour, no sign that a terminal of any encoding lacks; each share at its depth."""
    text = shown(probe_of(row_of(LengthVerdict.LOST, 5361, by_depth=DepthRecall((4, 3, 2, 1, 0), 4))))
    assert text.isascii()
    assert "\x1b" not in text
    assert text.splitlines()[1].split() == ["tokens", "10%", "30%", "50%", "70%", "90%"]
    assert text.splitlines()[-1].split() == ["5,361", "100", "75", "50", "25", "0"]


def test_a_terminal_has_colours_and_no_color_takes_them_away(monkeypatch: pytest.MonkeyPatch):
    """The figures are the same."""
    result = probe_of(row_of(LengthVerdict.LOST))
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = shown(result, force_terminal=True, color_system="truecolor")
    assert "48;2;179;88;6" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    plain = shown(result, force_terminal=True, color_system="truecolor")
    assert not re.search(r"[34]8;", plain)
    escapes = re.compile(r"\x1b\[[\d;]*m")
    assert escapes.sub("", coloured) == escapes.sub("", plain)


def test_many_depths_are_one_sign_each():
    """64 markers fit into 80 columns, in tenths."""
    counts = tuple(range(64))
    lost = row_of(LengthVerdict.LOST, 5361, by_depth=DepthRecall(counts, 63))
    text = shown(probe_of(lengths=(lost,)), width=80)
    assert max(map(len, text.splitlines()[1:])) <= 80
    assert text.splitlines()[-1].split()[1] == "".join("#" if n == 63 else str(10 * n // 63) for n in counts)


def test_where_all_came_back_one_line_says_so():
    """And where nothing was answered, none."""
    assert shown(probe_of(row_of(LengthVerdict.CLEAN))).split("\n") == [
        "recall by length and depth: 100% at all 2 lengths and 5 depths",
        "",
    ]
    assert shown(probe_of(lengths=(row_of(LengthVerdict.REFUSED),))) == ""
