"""A scan at a terminal: the three answers first, bounded however much was found, readable at any width."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from kvfence.report.scan_formats import ScanFormat
from kvfence.report.scan_terminal import ROWS_MAX, print_scan
from support.audit_results import HOSTILE
from support.exposures import credential, exposure, exposure_of, exposures, match, sign, written

QUESTIONS = ("Were we exposed?", "Whose text?", "What must be rotated?")


def shown(seen, columns: int) -> str:
    page = io.StringIO()
    print_scan(seen, Console(file=page, width=columns, force_terminal=False))
    return page.getvalue()


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("columns", [60, 80, 110, 160, 200])
def test_the_answers_come_first_and_nothing_runs_over(columns):
    """Every finding is named at every width, and no line is longer than the terminal."""
    seen = exposure(matches=(match(),), signs=(sign(),), credentials=(credential(),))
    text = shown(seen, columns)
    assert [text.index(question) for question in QUESTIONS] == sorted(text.index(question) for question in QUESTIONS)
    assert text.index(QUESTIONS[-1]) < text.index("Text of other requests")
    for word in ("r1", "s1", "412", "0.98", "0.70", "language"):
        assert word in text
    assert max(map(len, text.splitlines())) <= columns


@pytest.mark.parametrize("columns", [60, 200])
def test_the_length_is_bounded(columns):
    """A thousand findings with long names are no longer than some, and the rest is counted."""
    long = 2_000
    many = exposure(
        matches=(match("r" * long, "s" * long, preview="p" * long),) * 1000,
        signs=(sign("k" * long),) * 1000,
        credentials=(credential("c" * long),) * 1000,
    )
    text = shown(many, columns)
    assert len(text.splitlines()) < ROWS_MAX * 80
    assert text.count("and 980 more") == 3


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_piped_is_plain(text):
    """No control character and no escape reaches a file, whatever stands in the logs."""
    made = written(exposure_of(text), ScanFormat.TABLE)
    assert all(char == "\n" or char.isprintable() for char in made)


@settings(max_examples=40, deadline=None)
@given(exposures, st.integers(60, 200))
def test_any_scan_fits_any_terminal(seen, columns):
    """The same for whatever Hypothesis thinks of; wide letters take two columns, and are counted so."""
    assert all(char == "\n" or char.isprintable() for char in shown(seen, columns))


def test_what_is_worst_is_first():
    """Another tenant's text before one's own, then by score."""
    own = match("own", across_tenants=False, score=1.0)
    text = shown(exposure(matches=(own, match("weak", score=0.2), match("sure", score=0.9))), 120)
    assert text.index("sure") < text.index("weak") < text.index("own")


def test_a_secret_that_was_shown_to_somebody_else_says_so():
    """It is the first to rotate."""
    text = squeezed(shown(exposure(credentials=(credential("later"), credential("now", in_foreign_answer=True))), 120))
    assert text.index("now") < text.index("shown to somebody else") < text.index("later")


def test_signs_alone_are_inconclusive_and_the_line_says_why():
    """All was looked at, so the verdict does not say that it was not."""
    text = shown(exposure(signs=(sign(),)), 200)
    assert "Inconclusive: nothing was found, but there are signs of lost context." in text
    assert "could not be looked at" not in text
