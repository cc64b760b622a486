"""Two tenants strictly in turn, at equal lengths and at unequal ones. ollama #17475 calls this its first protocol.

At both sides of each boundary: one tenant's prompt, then the other's, first of equal length, then each of the two
lengths after the other. The sweep rises, so what it asks is never shorter than what was asked before it; here a short
prompt comes after a long one, whose tail may still stand behind its end. Both tenants' answers are judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kvfence.probe.boundaries import LengthAndWhy
from kvfence.probe.campaign import Campaign
from kvfence.probe.edges import Pair, Sweep, everyday, half_of_it, pairs
from kvfence.probe.record import Round, Scenario, Seen, Step, rounds_made
from kvfence.probe.target import Bounds


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen, sweep: Sweep) -> Round:
    """One request: the next in turn."""
    made = rounds_made(seen, Scenario.ALTERNATING)
    usual = (half_of_it(sweep), "half of an everyday length"), (everyday(sweep), "an everyday length")
    around = (usual, *pairs(campaign, bounds, sweep))
    return tuple(islice(_turns(campaign, around), made, made + 1))


def _turns(campaign: Campaign, around: tuple[Pair, ...]) -> Iterator[Step]:
    number = 0
    for under, over in around:
        for before, after in ((under, under), (over, over), (over, under), (under, over)):
            seeder = campaign.seeders[number % len(campaign.seeders)]
            yield _step(seeder, before, number)
            yield _step(campaign.harvester, after, number + 1)
            number += 2


def _step(tenant: str, length: LengthAndWhy, number: int) -> Step:
    return Step(
        part="harvest",
        tenant=tenant,
        tokens=length[0],
        why=f"in turn: {length[1]}",
        scenario=Scenario.ALTERNATING,
        round_number=number,
    )
