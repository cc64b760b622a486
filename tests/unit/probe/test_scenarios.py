"""What every manner of asking has in common: it follows from what was seen, ends, and stays within its bounds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.findings.recall import LengthResult, LengthVerdict, ProbeVerdict
from kvfence.probe.boundaries import Boundary
from kvfence.probe.by_scenario import by_scenario
from kvfence.probe.campaign import Campaign, next_round
from kvfence.probe.json_control import ALONE
from kvfence.probe.prompts import Recipe
from kvfence.probe.record import Exchange, Judged, Scenario, of_scenario
from kvfence.probe.rows import undecided
from kvfence.probe.scenarios import SCENARIOS
from kvfence.probe.scenarios.json_echo import AT_ONCE
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import overall

ENDLESS = 3000
"""Requests that no campaign here comes near."""
VERDICTS = st.sampled_from([*LengthVerdict, *[LengthVerdict.CLEAN] * 12])


def judged(step, number, verdict):
    status = {LengthVerdict.REFUSED: 400, LengthVerdict.ERROR: 500}.get(verdict, 200)
    recipe = Recipe(seed=1, tenant=step.tenant, request=number, filler_chars=0)
    result = LengthResult(
        tokens=step.tokens,
        why=step.why,
        status=status,
        verdict=verdict,
        recalled=5,
        planted=5,
        foreign=0,
        scenario=step.scenario,
    )
    return Judged(Exchange(step=step, recipe=recipe, tokens=step.tokens, status=status), result)


def played(campaign, bounds, verdicts):
    """Every round, with verdicts as they come; right ones when no more do."""
    given_, seen, rounds = iter(verdicts), (), []
    while wanted := next_round(campaign, bounds, seen, SCENARIOS):
        assert len(seen) < ENDLESS
        assert wanted == next_round(campaign, bounds, tuple(seen), SCENARIOS)
        rounds.append(wanted)
        seen += tuple(judged(step, len(seen) + at, next(given_, LengthVerdict.CLEAN)) for at, step in enumerate(wanted))
    return rounds, seen


BOUNDS = st.builds(
    Bounds,
    limits=st.lists(st.integers(1000, 20_000), max_size=2).map(tuple),
    boundaries=st.lists(st.builds(Boundary, st.integers(1000, 20_000), st.just("KV pool")), max_size=2).map(tuple),
    lengths=st.just(()) | st.lists(st.integers(800, 9000), min_size=1, max_size=3).map(tuple),
    repeats=st.integers(1, 2),
    known_pool_tokens=st.none() | st.integers(1000, 300_000),
    requests_max=st.integers(2, 200) | st.just(ENDLESS),
    rounds_each=st.integers(1, 5),
    concurrency=st.integers(1, 9),
)


@given(
    bounds=BOUNDS,
    verdicts=st.lists(VERDICTS, max_size=150),
    scenarios=st.sets(st.sampled_from(Scenario)),
    declared=st.sampled_from([2048, 8192, 131_072]),
    seeders=st.sampled_from([("tenant-a",), ("tenant-a", "tenant-c")]),
)
@settings(max_examples=30, deadline=None)
def test_every_campaign_ends_within_its_bounds(bounds, verdicts, scenarios, declared, seeders):
    """Whatever comes back: the next round follows from what was seen only, and none is over the bound of requests."""
    order = tuple(one for one in Scenario if one is Scenario.SWEEP or one in scenarios)
    campaign = Campaign(seed=1, key=b"key", declared_context=declared, scenarios=order, seeders=seeders)
    rounds, seen = played(campaign, bounds, verdicts)
    assert len(seen) <= bounds.requests_max
    for wanted in rounds:
        (scenario,) = {step.scenario for step in wanted}
        assert scenario in order
        assert {step.tenant for step in wanted} <= {campaign.harvester, *seeders}
        assert all(step.tokens > 0 for step in wanted)
    if len(seen) < bounds.requests_max:
        assert all(undecided(seen, scenario) is None for scenario in order)


@pytest.mark.parametrize("scenario", [one for one in Scenario if one is not Scenario.SWEEP])
def test_nothing_is_asked_in_any_manner_when_the_control_fails(scenario):
    """A model that cannot recite a short prompt shows nothing."""
    campaign = Campaign(seed=1, key=b"key", declared_context=8192, scenarios=(Scenario.SWEEP, scenario))
    _, seen = played(campaign, Bounds(), [LengthVerdict.LOST] * 2)
    assert len(seen) == 2
    assert not of_scenario(seen, scenario)


@pytest.mark.parametrize("scenario", [one for one in Scenario if one is not Scenario.SWEEP])
def test_what_was_wrong_once_is_asked_again_in_its_manner(scenario):
    """The whole round, for what went wrong may need all of it."""
    campaign = Campaign(seed=1, key=b"key", declared_context=8192, scenarios=(Scenario.SWEEP, scenario))
    bounds = Bounds(known_pool_tokens=20_000)
    _, right = played(campaign, bounds, [])
    first = next(at for at, one in enumerate(right) if one.exchange.step.scenario is scenario)
    harvest = next(at for at in range(first, len(right)) if right[at].exchange.step.part == "harvest")
    verdicts = [one.result.verdict for one in right]
    verdicts[harvest] = LengthVerdict.LOST
    _, seen = played(campaign, bounds, verdicts)
    again = of_scenario(seen, scenario)
    assert undecided(seen, scenario) is None
    wrong = right[harvest].exchange.step
    assert sum(one.exchange.step.tokens == wrong.tokens and one.exchange.step.why == wrong.why for one in again) >= 3


@pytest.mark.parametrize(("wrong", "at_once", "alone"), [(0, 16, 4), (1, 32, 4), (2, 16, 20)])
def test_json_objects_are_asked_for_more_often_where_some_were_wrong(wrong, at_once, alone):
    """Once is chance, and as many more tell; twice counts, if as many alone are all right."""
    campaign = Campaign(seed=1, key=b"key", declared_context=8192, scenarios=(Scenario.SWEEP, Scenario.JSON_ECHO))
    _, right = played(campaign, Bounds(), [])
    first = next(at for at, one in enumerate(right) if one.exchange.step.why == AT_ONCE)
    verdicts = [LengthVerdict.CLEAN] * first + [LengthVerdict.GARBLED] * wrong
    _, seen = played(campaign, Bounds(), verdicts)
    whys = [one.exchange.step.why for one in of_scenario(seen, Scenario.JSON_ECHO)]
    assert (whys.count(AT_ONCE), whys.count(ALONE)) == (at_once, alone)
    assert overall(seen, campaign)[0] is (ProbeVerdict.GARBLED if wrong > 1 else ProbeVerdict.CLEAN)


@pytest.mark.parametrize("alone", [1, 6])
def test_a_model_that_fails_at_json_alone_says_nothing_of_the_server(alone):
    """Before the others or after some of those were wrong: no verdict from any of them, and it is told."""
    campaign = Campaign(seed=1, key=b"key", declared_context=8192, scenarios=(Scenario.SWEEP, Scenario.JSON_ECHO))
    _, right = played(campaign, Bounds(), [])
    first = next(at for at, one in enumerate(right) if one.exchange.step.scenario is Scenario.JSON_ECHO)
    before = [LengthVerdict.CLEAN] * (4 if alone > 4 else 0)
    at_once = [LengthVerdict.GARBLED] * (16 if alone > 4 else 0)
    verdicts = [*[LengthVerdict.CLEAN] * first, *before, *at_once, LengthVerdict.GARBLED]
    _, seen = played(campaign, Bounds(), verdicts)
    assert len(of_scenario(seen, Scenario.JSON_ECHO)) < 30
    assert overall(seen, campaign)[0] is ProbeVerdict.CLEAN
    (_, result) = by_scenario(seen, campaign, Bounds())
    assert result.verdict is LengthVerdict.INCONCLUSIVE
    assert "asked for alone" in result.detail
