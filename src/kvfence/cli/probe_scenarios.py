"""`--scenario`: its help. What the names mean is the probe's."""

from __future__ import annotations

from typing import Annotated

import typer

from kvfence.probe.chosen import ALL
from kvfence.probe.record import DEFAULT_SCENARIOS, Scenario

Scenarios = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        help=f"A manner of asking, after the sweep: {', '.join(Scenario)}, or {ALL}; repeatable. Without it: "
        f"{', '.join(DEFAULT_SCENARIOS)}.",
        metavar="NAME",
    ),
]
