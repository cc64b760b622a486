"""Scenarios by their names, as a person chooses them."""

from __future__ import annotations

from collections.abc import Collection

from kvfence.errors import UsageError
from kvfence.probe.record import DEFAULT_SCENARIOS, Scenario
from kvfence.probe.target import Bounds

ALL = "all"


def scenarios_of(names: Collection[str], bounds: Bounds, *, option: str) -> tuple[Scenario, ...]:
    """In the order in which they are run; the sweep is always the first, for the others build on what it finds.

    `option`: how the names were given, for a message.

    Raises:
        UsageError: there is none of that name, or one that was asked for by name lacks something.
    """
    for name in names:
        if name not in (*Scenario, ALL):
            raise UsageError(f"{option} {name}: there is no such; there are {', '.join(Scenario)}, and {ALL}")
    if Scenario.PINNED_POOL in names and bounds.pool_tokens is None:
        raise UsageError(
            f"{option} {Scenario.PINNED_POOL} needs the pool's size: facts of an audit (--facts) or --limit"
        )
    if not names:
        return DEFAULT_SCENARIOS
    return tuple(one for one in Scenario if one is Scenario.SWEEP or ALL in names or one in names)
