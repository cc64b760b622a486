"""How many wrong answers count, over every number of answers: exact, and with the power that is written down."""

import random
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.findings.recall import LengthResult, LengthVerdict
from kvfence.probe.chance import CHANCE, FEWEST, NOISE, enough
from kvfence.probe.rows import UNKNOWN, WRONG, row_of

CLEAN, LOST, LEAK = LengthVerdict.CLEAN, LengthVerdict.LOST, LengthVerdict.LEAK


def at_least(wrong, answers, rate):
    """The chance of so many wrong ones or more, exactly."""
    share = Fraction(rate).limit_denominator(1000)
    return 1 - sum(comb(answers, some) * share**some * (1 - share) ** (answers - some) for some in range(wrong))


def result(verdict):
    return LengthResult(tokens=4000, why="asked", status=200, verdict=verdict, recalled=0, planted=5, foreign=0)


def row(*verdicts):
    return row_of(tuple(map(result, verdicts))).verdict


@given(answers=st.integers(1, 250))
def test_the_number_is_the_least_that_chance_seldom_reaches(answers):
    """By exact arithmetic; never fewer than two, and one more answer asks for one more at most."""
    number = enough(answers)
    assert number >= FEWEST
    assert at_least(number, answers, NOISE) <= CHANCE
    assert number == FEWEST or at_least(number - 1, answers, NOISE) > CHANCE
    assert enough(answers + 1) - number in (0, 1)


@pytest.mark.parametrize(
    ("answers", "number"), [(2, 2), (3, 2), (5, 2), (6, 3), (16, 3), (30, 4), (100, 7), (1000, 33), (100_000, 2116)]
)
def test_the_numbers_that_are_written_down(answers, number):
    """In decision 37; also where probabilities are smaller than a float can be."""
    assert enough(answers) == number


@pytest.mark.parametrize(("answers", "rate"), [(3, 0.87), (10, 0.51), (30, 0.24), (100, 0.12), (300, 0.07)])
def test_more_answers_find_rarer_losses(answers, rate):
    """A server that loses content in this share of its answers is found in nineteen of twenty cases."""
    assert at_least(enough(answers), answers, rate) >= 0.95


@given(st.lists(st.sampled_from(LengthVerdict), min_size=1, max_size=60))
def test_a_row_is_wrong_by_too_many_answers_and_by_nothing_else(verdicts):
    """Any mix: a leak at once; else wrong only by two that no slip explains, or by more than chance shows."""
    found = row(*verdicts)
    wrong = [verdict for verdict in verdicts if verdict in WRONG]
    known = [verdict for verdict in verdicts if verdict not in UNKNOWN]
    no_slip = [verdict for verdict in wrong if verdict not in {LengthVerdict.LOST, LengthVerdict.GARBLED}]
    assert (found is LEAK) == (LEAK in verdicts)
    if LEAK not in verdicts:
        assert (found in WRONG) == (len(wrong) >= enough(len(known)) or len(no_slip) >= FEWEST)


@given(st.integers(2, 200), st.data())
def test_where_half_are_wrong_no_number_of_answers_hides_it(answers, data):
    """Two of two, two of three, and every half of more."""
    wrong = data.draw(st.integers(max(2, (answers + 1) // 2), answers))
    assert row(*[LOST] * wrong, *[CLEAN] * (answers - wrong)) is LOST


def test_a_model_that_loses_one_in_fifty_is_seldom_called_lossy():
    """Of 2,000 lengths that were asked 30 times each, one in two hundred at most; by the rule of two, one in eight."""
    rng = random.Random(1)
    lengths = [[LOST if rng.random() < NOISE else CLEAN for _ in range(30)] for _ in range(2000)]
    assert sum(row(*verdicts) is LOST for verdicts in lengths) <= 2000 * CHANCE * 1.5
    assert sum(verdicts.count(LOST) >= 2 for verdicts in lengths) > 2000 * 0.1
