"""Clients hang up at random points while others ask. ollama #17475 leaked only with aborts and with others beside them.

A request that is given up leaves its pages, its slot and its place in the batch to be taken back while work on them is
still under way; that is a path of its own in every engine. In each round one side hangs up, in turn, before the first
byte (while the prompt waits, is computed or is handed over), at the first piece, or in the middle of an answer, and the
other asks beside it. Some harvests are more than may be under way: each of those begins when a connection has been
closed, and so gets what was just taken back, while something may still be written there (sglang #24527). The last round
is of harvests only. The points follow from the campaign's seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from kvfence.probe.campaign import Campaign
from kvfence.probe.edges import Sweep, everyday, half_of_it, lengths_of_round, rounds_wanted
from kvfence.probe.record import Delivery, Exchange, HangUp, Part, Round, Scenario, Seen, Step, of_scenario, rounds_made
from kvfence.probe.refusals import SUCCESS
from kvfence.probe.target import Bounds

AFTER = "asks right after a hang-up"
FIRST_PIECES = 2
PIECES_MAX = 64
"""A marker is some twenty tokens, and an engine sends one a piece or a few."""


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen, sweep: Sweep) -> Round:
    """One more round, until there was one for each boundary and `rounds_each` in all, and one without a hang-up."""
    made = rounds_made(seen, Scenario.HANG_UP)
    wanted = rounds_wanted(campaign, bounds, sweep)
    if made > wanted:
        return ()
    at_once = max(2, bounds.concurrency)
    beside = lengths_of_round(made, at_once, campaign, bounds, sweep)
    short = half_of_it(sweep)  # within the pages that were just taken back, whichever of the lengths they had
    lengths = (*beside, *(short for _ in range(at_once // 2) if made < wanted))
    usual = _usual(seen, everyday(sweep))
    parts = [_part(at, beside=at < at_once and made < wanted) for at in range(len(lengths))]
    tenants = campaign.in_turn(at_once) if made == wanted else _tenants(campaign, parts, swapped=made % 2 == 1)
    return tuple(
        Step(
            part=part,
            tenant=tenant,
            tokens=tokens,
            why="hangs up" if part == "hang-up" else AFTER if at >= at_once else "asks while others hang up",
            scenario=Scenario.HANG_UP,
            round_number=made,
            hang_up=when if part == "hang-up" else None,
            delivery=Delivery.STREAMED if part == "hang-up" and when.pieces else Delivery.WHOLE,
        )
        for at, (tokens, part, tenant) in enumerate(zip(lengths, parts, tenants, strict=True))
        for when in [_when(random.Random(f"{campaign.seed}/hang-up/{made}/{at}"), usual)]  # noqa: S311 — replayable
    )


def _part(at: int, *, beside: bool) -> Part:
    return "hang-up" if beside and at % 2 == 0 else "harvest"


def _tenants(campaign: Campaign, parts: list[Part], *, swapped: bool) -> tuple[str, ...]:
    """Whoever asks is another than who hangs up, and has not filled all the pages that are free by himself."""
    seeders = campaign.seeders
    return tuple(
        seeders[at // 2 % len(seeders)] if (part == "hang-up") is not swapped else campaign.harvester
        for at, part in enumerate(parts)
    )


@dataclass(frozen=True, slots=True)
class _Usual:
    """How long things take at the endpoint, as a rule; 0 where nothing is known."""

    first_piece_s: float
    answer_s: float


def _when(rng: random.Random, usual: _Usual) -> HangUp:
    """Before the first byte in half of the cases; else anywhere in the time of an answer, or at a piece of a stream."""
    match rng.randrange(8):
        case 0:
            return HangUp(pieces=rng.randint(1, FIRST_PIECES))
        case 1:
            return HangUp(pieces=rng.randint(1, PIECES_MAX))
        case 2 | 3:
            return HangUp(wait_s=round(rng.random() * usual.answer_s, 4))
        case _:
            return HangUp(wait_s=round(rng.random() * usual.first_piece_s, 4))


def _usual(seen: Seen, usual: int) -> _Usual:
    """Of whole answers at the everyday length in the sweep; and of first pieces at which this scenario hung up."""
    sweep = [one.exchange for one in of_scenario(seen, Scenario.SWEEP)]
    answer_s = _median_s(one for one in sweep if one.tokens == usual and one.status == SUCCESS)
    own = [(one.exchange, one.exchange.step.hang_up) for one in of_scenario(seen, Scenario.HANG_UP)]
    first_s = _median_s(one for one, when in own if when and 1 <= when.pieces <= FIRST_PIECES)
    return _Usual(min(first_s, answer_s) or answer_s, answer_s)


def _median_s(exchanges: Iterable[Exchange]) -> float:
    took = sorted(one.ended_s - one.started_s for one in exchanges)
    return took[len(took) // 2] if took else 0.0
