"""`--scenario`: names in, scenarios out."""

from __future__ import annotations

from typing import Annotated

import typer

from kvfence.errors import UsageError
from kvfence.probe.record import DEFAULT_SCENARIOS, Scenario
from kvfence.probe.target import Bounds

ALL = "all"
Scenarios = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        help=f"A manner of asking, after the sweep: {', '.join(Scenario)}, or {ALL}; repeatable. Without it: "
        f"{', '.join(DEFAULT_SCENARIOS)}.",
        metavar="NAME",
    ),
]


def scenarios_from(names: list[str] | None) -> tuple[Scenario, ...]:
    """In the order in which they are run; the sweep is always the first, for the others build on what it finds.

    Raises:
        UsageError: there is none of that name.
    """
    for name in names or ():
        if name not in (*Scenario, ALL):
            raise UsageError(f"--scenario {name}: there is no such; there are {', '.join(Scenario)}, and {ALL}")
    if not names:
        return DEFAULT_SCENARIOS
    return tuple(one for one in Scenario if one is Scenario.SWEEP or ALL in names or one in names)


def check_possible(names: list[str] | None, bounds: Bounds) -> None:
    """Raises `UsageError` for a scenario that was asked for by name and lacks something."""
    if Scenario.PINNED_POOL in (names or ()) and bounds.pool_tokens is None:
        raise UsageError(
            f"--scenario {Scenario.PINNED_POOL} needs the pool's size: give --facts with an audit's JSON, or --limit"
        )
