"""The least world in which the fault of a named rule set can happen at all, where a bound's own is too small for it.

A bound by its name is made larger for these rules and no others, in both the search and a replay.
"""

from __future__ import annotations

from dataclasses import replace

from kvfence.core.rules import STALE_ACK, TRUNCATE, Rules
from kvfence.verify.bound import BOUNDS, ONE_PAGE, TOO_LONG, Bound, Shape

FULL = Shape(prompt_tokens=4)
"""All that prefill can hold; the answer's token lies where the next page begins."""


def bound_named(name: str, rules: Rules) -> Bound:
    """The bound of that name for `rules`. Raises `KeyError`."""
    bound = BOUNDS[name]
    match rules.name:
        case TRUNCATE.name:  # a slot that nobody's prompt fills must hold somebody's answer
            return replace(bound, shapes=(FULL, TOO_LONG))
        case STALE_ACK.name:  # one request leaves the acknowledgement, one is given up, one reads
            budget = bound.budget._replace(requests=3, hang_ups=2, time_outs=0, duplicates=0, drops=0, crashes=0)
            return replace(bound, shapes=(ONE_PAGE,), decode_pages=1, budget=budget._replace(faults=2))
        case _:
            return bound
