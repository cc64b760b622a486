"""The same lengths with the answer whole and with it streamed: two code paths of every server, and of every proxy.

A detokenizer that is kept for each request, a queue of pieces, a response cache in front: each has its own way to hand
a piece to the wrong client (litellm #29955 keys a cache without the tenant). At an everyday length both tenants ask in
both ways, in turn; at the boundaries, where the sweep has the whole answer, once more with a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kvfence.probe.campaign import Campaign
from kvfence.probe.edges import Sweep, everyday, pairs
from kvfence.probe.record import Delivery, Round, Scenario, Seen, Step, rounds_made
from kvfence.probe.target import Bounds

STREAMED = "streamed"
WHOLE = "whole, for comparison"
TURNS = 2
"""How often each tenant asks in each way at the everyday length."""


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen, sweep: Sweep) -> Round:
    """One request: the next in turn."""
    made = rounds_made(seen, Scenario.STREAMING)
    lengths = dict.fromkeys(tokens for pair in pairs(campaign, bounds, sweep) for tokens, _ in pair)
    return tuple(islice(_steps(campaign, everyday(sweep), tuple(lengths)), made, made + 1))


def _steps(campaign: Campaign, usual: int, lengths: tuple[int, ...]) -> Iterator[Step]:
    ways = [(Delivery.WHOLE, WHOLE), (Delivery.STREAMED, STREAMED)] * TURNS
    tenants = (campaign.seeders[0], campaign.harvester)
    asks = [(tenant, usual, way) for way in ways for tenant in tenants]
    asks += [(campaign.harvester, tokens, ways[1]) for tokens in lengths if tokens != usual]
    for number, (tenant, tokens, (delivery, why)) in enumerate(asks):
        yield Step(
            part="harvest",
            tenant=tenant,
            tokens=tokens,
            why=why,
            scenario=Scenario.STREAMING,
            round_number=number,
            delivery=delivery,
        )
