"""All tenants ask at once. Mixed answers have needed exactly that: vllm #13408, sglang #4593, mlx-lm #965.

Every round is as many requests as may be under way at once, tenants in turn, at two lengths: the longest that the
sweep found clean, and half of it, so that requests end while others are in the middle. Each is judged: everybody's
markers are in the cache, so anybody's answer may show them.
"""

from __future__ import annotations

from itertools import cycle, islice

from kvfence.probe.campaign import Campaign
from kvfence.probe.record import Round, Scenario, Seen, Step, of_scenario
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import control_failed, harvests, longest_clean


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen) -> Round:
    """One more round, until there have been `rounds_each`."""
    results = harvests(seen)
    if control_failed(results) or _rounds_made(seen) >= bounds.rounds_each:
        return ()
    longest = longest_clean(results)
    tenants = cycle((campaign.harvester, *campaign.seeders))
    lengths = cycle((longest, longest, longest // 2, longest // 2))
    steps = (
        Step(
            part="harvest",
            tenant=tenant,
            tokens=tokens,
            why="all tenants at once",
            scenario=Scenario.CONCURRENT,
            round_number=_rounds_made(seen),
        )
        for tenant, tokens in zip(tenants, lengths, strict=False)
    )
    return tuple(islice(steps, bounds.concurrency))


def _rounds_made(seen: Seen) -> int:
    own = of_scenario(seen, Scenario.CONCURRENT)
    return own[-1].exchange.step.round_number + 1 if own else 0
