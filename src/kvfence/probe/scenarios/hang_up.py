"""Clients hang up at random points while others ask. ollama #17475 leaked only with aborts and with others beside them.

A request that is given up leaves its pages, its slot and its place in the batch to be taken back while work on them is
still under way; that is a path of its own in every engine. In each round the seeding tenants hang up, before the first
byte (at a random part of the time that an answer takes), at the first piece, or in the middle of a stream, and the
harvester asks beside them; the last round is of harvests only. The points follow from the campaign's seed.
"""

from __future__ import annotations

import random

from kvfence.probe.campaign import Campaign
from kvfence.probe.edges import Sweep, everyday, lengths_of_round, rounds_wanted
from kvfence.probe.record import Delivery, HangUp, Part, Round, Scenario, Seen, Step, of_scenario, rounds_made
from kvfence.probe.refusals import SUCCESS
from kvfence.probe.target import Bounds

FIRST_PIECES = 2
PIECES_MAX = 64
"""A marker is some twenty tokens, and an engine sends one a piece or a few."""


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen, sweep: Sweep) -> Round:
    """One more round, until there was one for each boundary and `rounds_each` in all, and one without a hang-up."""
    made = rounds_made(seen, Scenario.HANG_UP)
    wanted = rounds_wanted(campaign, bounds, sweep)
    if made > wanted:
        return ()
    size = max(2, bounds.concurrency)
    lengths = lengths_of_round(made, size, campaign, bounds, sweep)
    usual_s = _usual_s(seen, everyday(sweep))
    parts = [_part(at, last=made == wanted) for at in range(size)]
    return tuple(
        Step(
            part=part,
            tenant=campaign.seeders[at // 2 % len(campaign.seeders)] if part == "hang-up" else campaign.harvester,
            tokens=tokens,
            why="hangs up" if part == "hang-up" else "asks while others hang up",
            scenario=Scenario.HANG_UP,
            round_number=made,
            hang_up=when if part == "hang-up" else None,
            delivery=Delivery.STREAMED if part == "hang-up" and when.pieces else Delivery.WHOLE,
        )
        for at, (tokens, part) in enumerate(zip(lengths, parts, strict=True))
        for when in [_when(random.Random(f"{campaign.seed}/hang-up/{made}/{at}"), usual_s)]  # noqa: S311 — replayable
    )


def _part(at: int, *, last: bool) -> Part:
    return "harvest" if last or at % 2 else "hang-up"


def _when(rng: random.Random, usual_s: float) -> HangUp:
    """Before the first byte in half of the cases; else at the first pieces, or anywhere in the answer."""
    match rng.randrange(4):
        case 0:
            return HangUp(pieces=rng.randint(1, FIRST_PIECES))
        case 1:
            return HangUp(pieces=rng.randint(1, PIECES_MAX))
        case _:
            return HangUp(wait_s=round(rng.random() * usual_s, 4))


def _usual_s(seen: Seen, usual: int) -> float:
    """How long an answer at the everyday length took, as a rule; 0 where none is known."""
    sweep = [one.exchange for one in of_scenario(seen, Scenario.SWEEP)]
    took = sorted(one.ended_s - one.started_s for one in sweep if one.tokens == usual and one.status == SUCCESS)
    return took[len(took) // 2] if took else 0.0
