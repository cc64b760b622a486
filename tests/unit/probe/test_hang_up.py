"""When clients hang up and who asks right after it. What the manner finds is in the end-to-end tests."""

from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.findings.recall import LengthResult, LengthVerdict
from kvfence.probe.campaign import Campaign, next_round
from kvfence.probe.prompts import Recipe
from kvfence.probe.record import Exchange, Judged, Scenario
from kvfence.probe.scenarios import SCENARIOS
from kvfence.probe.scenarios.hang_up import AFTER, FIRST_PIECES
from kvfence.probe.target import Bounds

ANSWER_S, FIRST_PIECE_S = 8.0, 0.5


def ended(step, number):
    """How long it took at an endpoint that is quick with its first piece and slow with the rest."""
    took = FIRST_PIECE_S if step.hang_up and step.hang_up.pieces else ANSWER_S
    exchange = Exchange(
        step=step,
        recipe=Recipe(seed=1, tenant=step.tenant, request=number, filler_chars=0),
        tokens=step.tokens,
        status=200,
        ended_s=took,
    )
    result = LengthResult(
        tokens=step.tokens,
        why=step.why,
        status=200,
        verdict=LengthVerdict.CLEAN,
        recalled=5,
        planted=5,
        foreign=0,
        scenario=step.scenario,
    )
    return Judged(exchange, result)


def rounds(seed, bounds):
    """The rounds of the manner, after a sweep in which all was right."""
    campaign = Campaign(seed=seed, key=b"k", declared_context=16_384, scenarios=(Scenario.SWEEP, Scenario.HANG_UP))
    seen = ()
    while wanted := next_round(campaign, bounds, seen, SCENARIOS):
        seen += tuple(ended(step, len(seen) + at) for at, step in enumerate(wanted))
    steps = [one.exchange.step for one in seen if one.exchange.step.scenario is Scenario.HANG_UP]
    return [list(group) for _, group in groupby(steps, key=lambda step: step.round_number)]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), concurrency=st.integers(1, 9))
def test_some_harvests_can_only_begin_when_a_connection_was_closed(seed, concurrency):
    """They are more than may be under way, come last and are the shortest; the last round has nobody who hangs up."""
    at_once = max(2, concurrency)
    *others, last = rounds(seed, Bounds(concurrency=concurrency))
    assert others
    for steps in others:
        assert len(steps) == at_once + at_once // 2
        assert {step.part for step in steps[:at_once]} == {"hang-up", "harvest"}
        after = steps[at_once:]
        assert {(step.part, step.why) for step in after} == {("harvest", AFTER)}
        assert max(step.tokens for step in after) <= min(step.tokens for step in steps)
        quitters, askers = ({step.tenant for step in steps if step.part == part} for part in ("hang-up", "harvest"))
        assert len(quitters) == len(askers) == 1
        assert quitters != askers
    assert [step.part for step in last] == ["harvest"] * at_once
    assert AFTER not in {step.why for step in last}


def test_half_of_the_hang_ups_come_before_the_first_byte_once_it_is_known_when_that_comes():
    """Where the prompt waits, is computed or is handed over: of an answer that takes long, a small part."""
    waits, pieces = [], []
    for seed in range(30):
        *others, _ = rounds(seed, Bounds(rounds_each=8))
        known = False
        for steps in others:
            points = [step.hang_up for step in steps if step.part == "hang-up"]
            if known:
                waits += [when.wait_s for when in points if not when.pieces]
                pieces += [when.pieces for when in points if when.pieces]
            known = known or any(1 <= when.pieces <= FIRST_PIECES for when in points)
    every = len(waits) + len(pieces)
    assert 0.45 < sum(wait <= FIRST_PIECE_S for wait in waits) / every < 0.6
    assert 0.2 < sum(FIRST_PIECE_S < wait <= ANSWER_S for wait in waits) / every < 0.3
    assert 0.18 < len(pieces) / every < 0.32
