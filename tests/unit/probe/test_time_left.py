"""How long what is left takes, by what was measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.probe.time_left import ROUNDS_MIN, Load, Measured, seconds_left

LOADS = st.builds(Load, st.integers(1, 64), st.integers(0, 2**20))
RATES = st.floats(0, 100)


@given(st.lists(LOADS, min_size=ROUNDS_MIN, max_size=12), st.lists(LOADS, max_size=8), RATES, st.floats(0, 0.01))
def test_an_endpoint_that_takes_the_same_for_each_request_and_token_is_foretold(loads, left, a_request, a_token):
    """Whatever was asked of it, if the loads tell the two figures apart."""

    def takes(load):
        return a_request * load.requests + a_token * load.tokens

    foretold = seconds_left([Measured(load, takes(load)) for load in loads], left)
    apart = len({load.tokens / load.requests for load in loads}) > 1
    if apart:
        assert foretold == pytest.approx(sum(map(takes, left)), rel=0.01, abs=0.01)


@given(st.lists(st.builds(Measured, LOADS, st.floats(0, 1e6)), max_size=12), st.lists(LOADS, max_size=8))
def test_it_is_never_below_nothing_and_not_told_of_too_little(ended, left):
    """However times and lengths contradict each other."""
    foretold = seconds_left(ended, left)
    assert (foretold is None) == (len(ended) < ROUNDS_MIN)
    assert foretold is None or foretold >= 0


def test_where_longer_prompts_were_faster_only_the_requests_count():
    """A cache that was warm; no negative time for a token."""
    ended = [Measured(Load(1, 1000), 3.0), Measured(Load(1, 2000), 2.0), Measured(Load(1, 4000), 1.0)]
    assert seconds_left(ended, [Load(1, 10**6)]) == pytest.approx(2.0)
