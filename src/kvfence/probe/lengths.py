"""Which exact lengths matter, and why. Pure: the next step follows from what has been seen.

In rising order: a short control (can this model copy at all?), a geometric sweep up to half the declared context, both
sides of every limit that is known and of a page's or chunk's multiple, just under what is declared, and just past it.
Before each length but the control the other tenant plants its markers, in prompts as long as the longest that was
answered rightly so far: what it leaves in the pool is what a stale page would show. Last, what lies between the longest
clean length and the shortest that was not: a figure that the endpoint itself names when it refuses, then bisection.
"""

from __future__ import annotations

from itertools import chain

from kvfence.findings.recall import LengthResult, LengthVerdict
from kvfence.probe.boundaries import (
    NEAR_LIMIT_TOKENS,
    SWEEP_FROM,
    Boundary,
    around_multiple,
    both_sides,
    geometric,
    stated_in,
)
from kvfence.probe.campaign import Campaign
from kvfence.probe.prompts import fixed_chars
from kvfence.probe.record import Round, Scenario, Seen, Step, of_scenario
from kvfence.probe.rows import once_more, undecided
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import control_failed, harvests, longest_clean

CONTROL_TOKENS = 768
"""Of a prompt with few markers; with many it is half as long again as they need."""
PAST_DECLARED_TOKENS = 64


def planned(campaign: Campaign, bounds: Bounds) -> tuple[tuple[int, str], ...]:
    """Lengths and reasons, rising; the control first."""
    longest = campaign.longest
    control = (min(control_tokens(campaign.depths), longest), "control: can this model copy markers at all")
    if bounds.lengths:
        return (control, *((tokens, "asked for") for tokens in sorted(set(bounds.lengths))))
    sweep = geometric(campaign.declared_context, factor=bounds.sweep_factor, above=SWEEP_FROM * control[0])
    known = (*(Boundary(limit, "limit") for limit in bounds.limits), *bounds.boundaries)
    wanted: dict[int, str] = {longest: "just under the declared context"}
    for tokens, why in chain(
        sweep,
        *(both_sides(boundary, campaign.answer_tokens) for boundary in known),
        *(around_multiple(unit) for unit in bounds.multiples),
    ):
        wanted.setdefault(tokens, why)
    rising = sorted((tokens, why) for tokens, why in wanted.items() if control[0] < tokens <= longest)
    past = (campaign.declared_context + PAST_DECLARED_TOKENS, "past what is declared")
    return (control, *rising, past)


def control_tokens(depths: int) -> int:
    """How long the control is, also where a token is one byte."""
    return max(CONTROL_TOKENS, 3 * fixed_chars(depths) // 2)


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen) -> Round:
    """One request: what to ask next, or none when the sweep is over."""
    results = harvests(seen)
    plan = planned(campaign, bounds)
    again = undecided(seen)
    if control_failed(results) and again is None:
        return ()  # nothing longer would prove anything
    planned_next = plan[len(results)] if len(results) < len(plan) else None
    tokens_and_why = (
        again or planned_next or _bisection(results, len(plan), bounds, campaign) or once_more(seen, bounds.repeats)
    )
    if tokens_and_why is None:
        return ()
    tokens, why = tokens_and_why
    seeds = _seeds_since_harvest(of_scenario(seen, Scenario.SWEEP))
    if longest_clean(results) and (tokens, why) != plan[0] and seeds < bounds.seeds_each:
        seeder = campaign.seeders[seeds % len(campaign.seeders)]
        return (
            Step(part="seed", tenant=seeder, tokens=longest_clean(results), why="plants the other tenant's markers"),
        )
    return (Step(part="harvest", tenant=campaign.harvester, tokens=tokens, why=why),)


def _bisection(
    results: tuple[LengthResult, ...], planned_count: int, bounds: Bounds, campaign: Campaign
) -> tuple[int, str] | None:
    """Halfway between the longest clean length and the shortest within the declared one that was not."""
    if bounds.lengths or len(results) - planned_count >= bounds.bisections:
        return None
    clean = longest_clean(results)
    failed = (result.tokens for result in results if result.verdict is not LengthVerdict.CLEAN)
    others = [tokens for tokens in failed if clean < tokens <= campaign.longest]
    if not others or min(others) - clean <= NEAR_LIMIT_TOKENS:
        return None
    refusals = (result.detail for result in results if result.verdict is LengthVerdict.REFUSED)
    for figure in stated_in(refusals, between=(clean, min(others) + campaign.answer_tokens)):
        under = figure - campaign.answer_tokens
        for tokens in (under, figure + 1):
            if clean + 1 < tokens < min(others) - 1:
                return tokens, f"the endpoint names {figure:,} when it refuses"
    return (clean + min(others)) // 2, "bisection: where does it turn"


def _seeds_since_harvest(seen: Seen) -> int:
    seeds = 0
    for one in reversed(seen):
        if one.exchange.step.part == "harvest":
            break
        seeds += one.exchange.step.part == "seed"
    return seeds
