"""All tenants ask at once. Mixed answers have needed exactly that: vllm #13408, sglang #4593, mlx-lm #965.

Every round is as many requests as may be under way at once, tenants in turn, at two everyday lengths, so that requests
end while others are in the middle; and in later rounds both sides of a boundary beside them. Each is judged:
everybody's markers are in the cache, so anybody's answer may show them.
"""

from __future__ import annotations

from kvfence.probe.campaign import Campaign
from kvfence.probe.edges import Sweep, lengths_of_round, rounds_wanted
from kvfence.probe.record import Round, Scenario, Seen, Step, rounds_made
from kvfence.probe.target import Bounds


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen, sweep: Sweep) -> Round:
    """One more round, until there was one for each boundary and `rounds_each` in all."""
    made = rounds_made(seen, Scenario.CONCURRENT)
    if made >= rounds_wanted(campaign, bounds, sweep):
        return ()
    lengths = lengths_of_round(made, bounds.concurrency, campaign, bounds, sweep)
    return tuple(
        Step(
            part="harvest",
            tenant=tenant,
            tokens=tokens,
            why="all tenants at once",
            scenario=Scenario.CONCURRENT,
            round_number=made,
        )
        for tenant, tokens in zip(campaign.in_turn(len(lengths)), lengths, strict=True)
    )
