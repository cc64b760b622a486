"""The KV pool kept at 100 % while harvesters ask. vllm #50702 spliced other strings in only then; #39146, #37076 evict.

The seeding tenants send, at once, as many prompts as hold the pool's size in tokens, and the harvester asks beside them
at an everyday length and at both sides of every boundary, twice over: a full pool must evict, preempt and queue, which
an empty one never does. It needs the pool's size, from an audit's facts or as a limit given by hand.
"""

from __future__ import annotations

from itertools import cycle, islice, zip_longest

from kvfence.probe.campaign import Campaign
from kvfence.probe.edges import Sweep, everyday, half_of_it, pairs
from kvfence.probe.record import Round, Scenario, Seen, Step, rounds_made
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import longest_clean

FILLS = 2
"""How often the pool is filled: the second time, there is something to evict from the start."""
BESIDE = 2
"""How many harvests may be under way beside the seeds that fill the pool."""


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen, sweep: Sweep) -> Round:
    """All that fills the pool once, with the harvests among it."""
    made = rounds_made(seen, Scenario.PINNED_POOL)
    pool = bounds.pool_tokens
    if pool is None or made >= FILLS:
        return ()
    length, count = _seeds(pool, bounds, sweep)
    tenants = islice(cycle(campaign.seeders), count)
    seeds = [_step(campaign, length, made, seeder=tenant) for tenant in tenants]
    around = [tokens for pair in pairs(campaign, bounds, sweep) for tokens, _ in pair]
    lengths = dict.fromkeys((everyday(sweep), half_of_it(sweep), *around))
    asks = [_step(campaign, tokens, made) for tokens in lengths]
    first = seeds[: max(1, bounds.concurrency - BESIDE)]
    rest = zip_longest(asks, seeds[len(first) :])
    return (*first, *(step for both in rest for step in both if step))


def why_not(bounds: Bounds, sweep: Sweep) -> str:
    """Why the pool could not be filled, or not held full; empty where it was."""
    pool = bounds.pool_tokens
    if pool is None:
        return "the pool's size is not known; give --facts, or --limit with it"
    length, _ = _seeds(pool, bounds, sweep)
    under_way = length * max(1, bounds.concurrency - BESIDE)
    if under_way >= pool or not longest_clean(sweep):
        return ""
    return f"only {under_way:,} of the pool's {pool:,} tokens were under way at once; more need a higher --concurrency"


def _seeds(pool: int, bounds: Bounds, sweep: Sweep) -> tuple[int, int]:
    """How long the prompts are that fill the pool, and how many: as many at once as may be, and none over the limit."""
    at_once = max(1, bounds.concurrency - BESIDE)
    length = min(max(1, longest_clean(sweep)), max(everyday(sweep), -(-pool // at_once)))
    return length, -(-pool // length)


def _step(campaign: Campaign, tokens: int, number: int, *, seeder: str | None = None) -> Step:
    return Step(
        part="seed" if seeder else "harvest",
        tenant=seeder or campaign.harvester,
        tokens=tokens,
        why="fills the pool" if seeder else "asks while the pool is full",
        scenario=Scenario.PINNED_POOL,
        round_number=number,
    )
