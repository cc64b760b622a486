"""In which manner requests are sent, one manner a file, and the table of all of them. Pure: no request is made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kvfence.probe.campaign import Campaign, NextRound
from kvfence.probe.edges import Sweep
from kvfence.probe.lengths import next_round as sweep
from kvfence.probe.record import Round, Scenario, Seen
from kvfence.probe.scenarios import all_at_once, alternating, hang_up, json_echo, pinned_pool, shared_prefix, streaming
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import control_failed, harvests


def _behind_the_sweep(own: Callable[[Campaign, Bounds, Seen, Sweep], Round]) -> NextRound:
    """A scenario that builds on what the sweep showed, which is made out once; none where the control failed."""

    def next_round(campaign: Campaign, bounds: Bounds, seen: Seen) -> Round:
        results = harvests(seen)
        return () if control_failed(results) else own(campaign, bounds, seen, results)

    return next_round


SCENARIOS: Mapping[Scenario, NextRound] = {
    Scenario.SWEEP: sweep,
    Scenario.ALTERNATING: _behind_the_sweep(alternating.next_round),
    Scenario.CONCURRENT: _behind_the_sweep(all_at_once.next_round),
    Scenario.HANG_UP: _behind_the_sweep(hang_up.next_round),
    Scenario.PINNED_POOL: _behind_the_sweep(pinned_pool.next_round),
    Scenario.SHARED_PREFIX: _behind_the_sweep(shared_prefix.next_round),
    Scenario.STREAMING: _behind_the_sweep(streaming.next_round),
    Scenario.JSON_ECHO: _behind_the_sweep(json_echo.next_round),
}
