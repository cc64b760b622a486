from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.findings.leak_rate import LeakRate, trials_needed, upper_bound


@pytest.mark.parametrize(
    ("seen", "trials", "bound"),
    [
        (0, 300, 0.009986),  # the rule of three
        (0, 3, 0.998577),
        (1, 10, 0.394163),  # one-sided 95 % is the upper end of two-sided 90 %: 0.3942
        (5, 100, 0.102253),
        (10, 10, 1.0),
        (0, 0, 1.0),
    ],
)
def test_bounds_that_are_known(seen, trials, bound):
    """As in tables of Clopper and Pearson's interval: 0.3942 for 1 of 10, 0.1023 for 5 of 100."""
    assert upper_bound(seen, trials) == pytest.approx(bound, abs=1e-6)


@given(trials=st.integers(1, 200), confidence=st.floats(0.5, 0.999))
def test_all_but_one_has_a_closed_form(trials, confidence):
    """N - 1 of n or fewer is not n of n: 1 - p**n."""
    closed = confidence ** (1 / trials)
    assert upper_bound(trials - 1, trials, confidence) == pytest.approx(closed) or trials == 1


@given(trials=st.integers(2, 120), share=st.floats(0, 0.99), confidence=st.floats(0.5, 0.999))
def test_at_the_bound_so_few_have_just_the_chance_that_is_left(trials, share, confidence):
    """By the binomial's own terms, in whole numbers where they can be."""
    seen = max(1, int(share * trials))
    rate = upper_bound(seen, trials, confidence)
    tail = sum(comb(trials, count) * rate**count * (1 - rate) ** (trials - count) for count in range(seen + 1))
    assert tail == pytest.approx(1 - confidence, rel=1e-6) or seen == trials


@given(trials=st.integers(1, 10**6), confidence=st.floats(0.5, 0.999))
def test_the_rule_of_three_is_never_below_the_exact_bound(trials, confidence):
    """It errs on the side of what could still be."""
    assert upper_bound(0, trials, confidence) >= (1 - (1 - confidence) ** (1 / trials)) * (1 - 1e-12)


@given(seen=st.integers(0, 20), bound=st.floats(0.001, 0.9))
def test_the_trials_that_are_needed_are_enough_and_one_less_is_not(seen, bound):
    """The fewest."""
    needed = trials_needed(bound, seen)
    assert upper_bound(seen, needed) <= bound * (1 + 1e-12)
    assert needed == seen + 1 or upper_bound(seen, needed - 1) > bound


@given(seen=st.integers(0, 30), more=st.integers(0, 50))
def test_more_trials_bound_lower_and_more_leaks_bound_higher(seen, more):
    """In both directions."""
    trials = seen + more + 1
    assert upper_bound(seen, trials + 1) < upper_bound(seen, trials) or upper_bound(seen, trials) == 1
    assert upper_bound(seen + 1, trials) >= upper_bound(seen, trials) >= seen / trials


def test_a_million_trials_are_no_matter():
    """Logarithms: no overflow, no underflow."""
    assert upper_bound(100, 10**6) == pytest.approx(1.18e-4, rel=0.01)
    assert LeakRate(seen=0, trials=10**6).upper_bound == pytest.approx(3e-6, rel=0.01)


@pytest.mark.parametrize(("seen", "trials", "confidence"), [(2, 1, 0.95), (-1, 1, 0.95), (0, 1, 1.0), (0, 1, 0.0)])
def test_what_cannot_be_is_refused(seen, trials, confidence):
    """Not answered with a number."""
    with pytest.raises(ValueError, match="confidence"):
        upper_bound(seen, trials, confidence)
    with pytest.raises(ValueError, match="between"):
        trials_needed(0)
