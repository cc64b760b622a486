import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe.answers import judged
from kvfence.probe.campaign import Campaign, next_round
from kvfence.probe.lengths import planned
from kvfence.probe.markers import Place, make_marker
from kvfence.probe.prompts import STOP, Recipe, answer_tokens, build, markers_of
from kvfence.probe.record import Exchange, Scenario, of_scenario
from kvfence.probe.scenarios import SCENARIOS
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import harvests, overall

CAMPAIGN = Campaign(seed=1, key=b"key", declared_context=8192)
ANSWER_TOKENS = CAMPAIGN.answer_tokens


def induction(prompt: str, stop: str, limit: int) -> str:
    """A naive copy of what the cell's model does: go on where the last 8 characters last stood."""
    text = prompt
    while len(text) < len(prompt) + limit and not text.endswith(stop):
        for size in range(8, -1, -1):
            at = text.rfind(text[-size:], 0, len(text) - 1) if size else -1
            if at >= 0:
                text += text[at + size]
                break
        else:
            return ""
    return text[len(prompt) :]


def simulated(limit, *, leaky):
    """An endpoint: right up to `limit`; past it, it refuses or answers from the last seeder's prompt."""
    last: dict[str, Recipe] = {}

    def answer(step, number):
        tenant = "a" if step.part == "seed" else "b"
        recipe = Recipe(seed=1, tenant=tenant, request=number, filler_chars=0)
        if step.tokens + ANSWER_TOKENS > CAMPAIGN.declared_context or (step.tokens > limit and not leaky):
            return Exchange(step=step, recipe=recipe, tokens=step.tokens, status=400, detail="too long")
        source = last.get("a", recipe) if step.tokens > limit else recipe
        last[tenant] = recipe
        texts = [marker.text for marker in markers_of(source, CAMPAIGN.key)]
        return Exchange(step=step, recipe=recipe, tokens=step.tokens, status=200, answer="; ".join(texts))

    return answer


def run_campaign(answer, bounds=Bounds()):  # noqa: B008 — a frozen value
    rounds, seen = [], ()
    while wanted := next_round(CAMPAIGN, bounds, seen, SCENARIOS):
        rounds.append(tuple(answer(step, number) for number, step in enumerate(wanted, start=len(seen))))
        seen = judged(rounds, CAMPAIGN)
    return [one.exchange for one in seen], harvests(seen), overall(seen, CAMPAIGN)


@given(chars=st.integers(0, 3000), seed=st.integers(0, 10**6), depths=st.integers(1, 14) | st.just(64))
@settings(max_examples=40, deadline=None)
def test_an_induction_model_recalls_every_marker_of_every_prompt(chars, seed, depths):
    """The shape of the prompt makes copying lead from marker to marker, in order, to the end."""
    recipe = Recipe(seed=seed, tenant="b", request=3, filler_chars=chars, depths=depths)
    prompt = build(recipe, b"key")
    answer = induction(prompt.text, STOP, answer_tokens(depths))
    assert [marker.text for marker in prompt.markers] == [part[-29:] for part in answer.split(";")[:-1]]
    assert answer.endswith(STOP)


def test_a_prompt_is_its_recipe():
    """The same recipe and key give the same text; the markers can be had without it."""
    recipe = Recipe(seed=4, tenant="a", request=2, filler_chars=5000)
    assert build(recipe, b"k") == build(recipe, b"k")
    assert build(recipe, b"k").markers == markers_of(recipe, b"k")
    assert build(recipe, b"k").text != build(recipe, b"l").text


def test_both_sides_of_a_known_limit_are_asked():
    """The plan rises, from the control to just past what is declared."""
    plan = planned(CAMPAIGN, Bounds(limits=(5312,)))
    tokens = [length for length, _ in plan]
    assert tokens == sorted(tokens)
    assert any(length + ANSWER_TOKENS <= 5312 for length in tokens[2:])
    assert any(5312 < length <= 5312 + 64 for length in tokens)
    assert tokens[-1] > CAMPAIGN.declared_context >= tokens[-2] + ANSWER_TOKENS


@pytest.mark.parametrize("limit", [1000, 3000, 5312, 7000])
def test_a_leak_past_any_limit_is_found_and_closed_in_on(limit):
    """One foreign marker is enough, and bisection narrows the length at which it starts."""
    _, results, (verdict, _) = run_campaign(simulated(limit, leaky=True))
    assert verdict is ProbeVerdict.LEAK
    leaks = [result.tokens for result in results if result.verdict is LengthVerdict.LEAK]
    clean = [result.tokens for result in results if result.verdict is LengthVerdict.CLEAN]
    assert max(clean) <= limit < min(leaks)
    assert min(leaks) - max(clean) < 600


def test_a_limit_below_what_is_declared_is_a_finding_of_its_own():
    """I7: refused though declared; nothing foreign, but not clean."""
    _, _, (verdict, reason) = run_campaign(simulated(5000, leaky=False))
    assert verdict is ProbeVerdict.LIMIT_OVERSTATED
    assert "8,192" in reason


def test_an_endpoint_that_keeps_its_promise_is_clean():
    """Every marker comes back up to the declared length."""
    history, results, (verdict, _) = run_campaign(simulated(8192, leaky=True))
    assert verdict is ProbeVerdict.CLEAN
    assert [result.verdict for result in results] == ["clean", "clean", "clean", "refused"]
    assert sum(exchange.step.part == "seed" for exchange in history) == 6


def test_a_marker_of_another_campaign_is_foreign_too():
    """What an earlier run left in the pool is recognised without its key."""
    stray = make_marker(random.Random(9), b"another key", Place("x", 1, 1)).text
    answers = iter(["", stray])

    def answer(step, number):
        recipe = Recipe(seed=1, tenant="b", request=number, filler_chars=0)
        own = "; ".join(marker.text for marker in markers_of(recipe, CAMPAIGN.key))
        return Exchange(step=step, recipe=recipe, tokens=step.tokens, status=200, answer=next(answers, "") or own)

    _, results, (verdict, _) = run_campaign(answer, Bounds(seeds_each=0, lengths=(4000,)))
    assert verdict is ProbeVerdict.LEAK
    assert results[1].evidence[0].planted_by == "another campaign"


def test_earlier_text_beside_all_that_was_asked_for_is_not_clean():
    """All markers came back, and one of an earlier prompt of the same tenant with them."""

    def answer(step, number):
        recipes = [Recipe(seed=1, tenant="b", request=request, filler_chars=0) for request in (number, 0)]
        texts = [marker.text for recipe in recipes for marker in markers_of(recipe, CAMPAIGN.key)]
        return Exchange(step=step, recipe=recipes[0], tokens=step.tokens, status=200, answer="; ".join(texts))

    _, results, (verdict, _) = run_campaign(answer, Bounds(seeds_each=0, lengths=(4000,)))
    assert (results[1].verdict, results[1].recalled, results[1].foreign) == (LengthVerdict.GARBLED, 5, 5)
    assert verdict is ProbeVerdict.GARBLED


def test_a_made_up_look_alike_is_not_a_leak():
    """A model that invents something of a marker's shape is garbled, not leaking."""

    def answer(step, number):
        recipe = Recipe(seed=1, tenant="b", request=number, filler_chars=0)
        own = "; ".join(marker.text for marker in markers_of(recipe, CAMPAIGN.key))
        made_up = "ABCDE-FGHJK-MNPQR-STVWX-YZ012"
        return Exchange(
            step=step, recipe=recipe, tokens=step.tokens, status=200, answer=made_up if step.tokens > 1000 else own
        )

    assert run_campaign(answer)[2][0] is ProbeVerdict.GARBLED


def test_a_failed_control_ends_the_campaign_as_a_weak_model():
    """A model that cannot copy, asked twice, proves nothing about longer prompts, and is asked nothing longer."""

    def answer(step, number):
        recipe = Recipe(seed=1, tenant="b", request=number, filler_chars=0)
        return Exchange(step=step, recipe=recipe, tokens=step.tokens, status=200, answer="no")

    history, _, (verdict, _) = run_campaign(answer)
    assert len(history) == 2
    assert verdict is ProbeVerdict.WEAK_MODEL


def test_errors_and_unplanted_seeds_are_inconclusive_and_not_clean():
    """What could not have shown the fault is not an all-clear."""
    honest = simulated(8192, leaky=True)

    def failing_seeds(step, number):
        exchange = honest(step, number)
        return (
            exchange
            if step.part == "harvest"
            else Exchange(step=step, recipe=exchange.recipe, tokens=step.tokens, status=500)
        )

    def failing_long(step, number):
        exchange = honest(step, number)
        return (
            exchange
            if step.tokens < 5000
            else Exchange(step=step, recipe=exchange.recipe, tokens=step.tokens, status=None)
        )

    assert run_campaign(failing_seeds)[2][0] is ProbeVerdict.INCONCLUSIVE
    assert run_campaign(failing_long)[2][0] is ProbeVerdict.INCONCLUSIVE


def test_the_number_of_requests_is_a_hard_limit():
    """No plan goes past it."""
    history, _, _ = run_campaign(simulated(3000, leaky=True), Bounds(requests_max=5))
    assert len(history) == 5


def test_all_tenants_at_once_come_after_the_sweep_and_are_judged_as_one_round():
    """An answer that shows a prompt which was under way beside it is a leak, though that prompt has a higher number."""
    campaign = replace(CAMPAIGN, scenarios=(Scenario.SWEEP, Scenario.CONCURRENT))
    bounds = Bounds(rounds_each=2, concurrency=4, requests_max=1000)
    rounds, seen = [], ()
    while wanted := next_round(campaign, bounds, seen, SCENARIOS):
        recipes = [
            Recipe(seed=1, tenant=step.tenant, request=number, filler_chars=0)
            for number, step in enumerate(wanted, start=len(seen))
        ]
        mixed = [recipes[-1], *recipes[1:]] if wanted[0].round_number == 1 else recipes
        rounds.append(
            tuple(
                Exchange(step=step, recipe=recipe, tokens=step.tokens, status=200, answer=recited(shown, campaign))
                for step, recipe, shown in zip(wanted, recipes, mixed, strict=True)
            )
        )
        seen = judged(rounds, campaign)
    together = of_scenario(seen, Scenario.CONCURRENT)
    assert [len(made) for made in rounds[-2:]] == [4, 4]
    assert {one.exchange.step.tenant for one in together} == {"tenant-a", "tenant-b"}
    assert [one.result.verdict for one in together] == ["clean"] * 4 + ["leak"] + ["clean"] * 3
    assert overall(seen, campaign)[0] is ProbeVerdict.LEAK


def recited(recipe, campaign):
    return "; ".join(marker.text for marker in markers_of(recipe, campaign.key))
