"""At which lengths the scenarios after the sweep ask: both sides of every boundary, and one everyday length. Pure.

What needs a manner (two at once, a client that hangs up) seldom needs a length, and what needs a length may need a
manner as well. So most requests have a length at which they are cheap, and a few stand at the boundaries.
"""

from __future__ import annotations

from itertools import chain, cycle, islice

from kvfence.findings.recall import LengthResult, LengthVerdict
from kvfence.probe.boundaries import Boundary, LengthAndWhy, around_multiple, both_sides
from kvfence.probe.campaign import Campaign
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import longest_clean

Pair = tuple[LengthAndWhy, LengthAndWhy]
"""Just under a boundary, and just over it."""
Sweep = tuple[LengthResult, ...]
"""What the sweep showed, one row for each length, in order; the first is the control."""


def everyday(sweep: Sweep) -> int:
    """The shortest length beyond the control that was answered rightly in the sweep; else the control's."""
    clean = [row.tokens for row in sweep if row.verdict is LengthVerdict.CLEAN]
    return min(clean[1:], default=clean[0] if clean else 0)


def half_of_it(sweep: Sweep) -> int:
    """Half of the everyday length, where that is no shorter than the control."""
    return max(everyday(sweep) // 2, sweep[0].tokens)


def pairs(campaign: Campaign, bounds: Bounds, sweep: Sweep) -> tuple[Pair, ...]:
    """Both sides of every boundary that a prompt can stand on, rising; of the lengths that were asked for, if any were.

    The far side may be one that is refused: a refusal costs nothing, and its path is where the incident began.
    """
    if bounds.lengths:
        return tuple(((tokens, "asked for"), (tokens, "asked for")) for tokens in sorted(set(bounds.lengths)))
    known = (*(Boundary(limit, "limit") for limit in bounds.limits), *bounds.boundaries)
    sides = chain(
        (_outer(tuple(around_multiple(unit))) for unit in bounds.multiples),
        (_outer(tuple(both_sides(boundary, campaign.answer_tokens))) for boundary in known),
        (_turn(sweep),),
    )
    longest = campaign.longest
    by_length = {(under[0], over[0]): (under, over) for under, over in sides if 0 < under[0] <= longest}
    return tuple(by_length[lengths] for lengths in sorted(by_length))


def lengths_of_round(number: int, size: int, campaign: Campaign, bounds: Bounds, sweep: Sweep) -> tuple[int, ...]:
    """Of a round in which all ask at once: everyday lengths, and from the second round on a boundary each.

    Both sides of the boundary are asked twice, so that two tenants can; then there is room for everyday lengths only.
    """
    around = pairs(campaign, bounds, sweep)
    asked = around[number - 1] if 1 <= number <= len(around) else ()
    first = [tokens for tokens, _ in asked for _ in range(2)]
    long, short = everyday(sweep), half_of_it(sweep)
    return tuple(islice(chain(first, cycle((long, long, short, short))), size))


def rounds_wanted(campaign: Campaign, bounds: Bounds, sweep: Sweep) -> int:
    """How many such rounds there are: one without a boundary, one for each, and not fewer than `rounds_each`."""
    return max(bounds.rounds_each, 1 + len(pairs(campaign, bounds, sweep)))


def _outer(sides: tuple[LengthAndWhy, ...]) -> Pair:
    return sides[0], sides[-1]


def _turn(sweep: Sweep) -> Pair:
    """Where the sweep's answers stop being right."""
    longest = longest_clean(sweep)
    beyond = [row.tokens for row in sweep if row.tokens > longest]
    return (longest, "the longest that was right"), (min(beyond, default=longest), "the shortest that was not")
