"""A prefix that all prompts share, against one of their own. vllm-ascend #14118 has this harness, vllm #53912 a fault.

The first half of a prompt is the same text for every tenant, its markers stand behind it: a prefix cache takes that
half from whoever came first, and must take no more. Of both kinds the tenants ask in turn at an everyday length, then
all at once; at the boundaries, where the sweep has prompts of their own, once more with the shared half.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kvfence.probe.campaign import Campaign
from kvfence.probe.edges import Sweep, everyday, pairs
from kvfence.probe.prompts import Form, Prefix
from kvfence.probe.record import Round, Scenario, Seen, Step, rounds_made
from kvfence.probe.target import Bounds

SHARED = "a prefix that all share"
UNIQUE = "a prefix of its own"
TURNS = 2
"""How often each tenant asks in turn with each prefix."""
_WHY = {Prefix.SHARED: SHARED, Prefix.UNIQUE: UNIQUE}


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen, sweep: Sweep) -> Round:
    """One request in turn; in the end a round of each kind at once."""
    made = rounds_made(seen, Scenario.SHARED_PREFIX)
    return next(islice(_rounds(campaign, bounds, sweep), made, made + 1), ())


def _rounds(campaign: Campaign, bounds: Bounds, sweep: Sweep) -> Iterator[Round]:
    usual = everyday(sweep)
    tenants = (campaign.seeders[0], campaign.harvester)
    turns = [(tenant, usual, prefix) for prefix in (Prefix.UNIQUE, Prefix.SHARED) for tenant in tenants * TURNS]
    under = dict.fromkeys(pair[0][0] for pair in pairs(campaign, bounds, sweep))
    turns += [(tenant, tokens, Prefix.SHARED) for tokens in under if tokens != usual for tenant in tenants]
    for number, turn in enumerate(turns):
        yield (_step(*turn, number),)
    everybody = campaign.in_turn(bounds.concurrency)
    for number, prefix in enumerate((Prefix.UNIQUE, Prefix.SHARED), start=len(turns)):
        yield tuple(_step(tenant, usual, prefix, number) for tenant in everybody)


def _step(tenant: str, tokens: int, prefix: Prefix, number: int) -> Step:
    return Step(
        part="harvest",
        tenant=tenant,
        tokens=tokens,
        why=_WHY[prefix],
        scenario=Scenario.SHARED_PREFIX,
        round_number=number,
        form=Form(prefix=prefix),
    )
