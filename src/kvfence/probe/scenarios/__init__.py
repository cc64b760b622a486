"""In which manner requests are sent, one manner a file, and the table of all of them. Pure: no request is made here."""

from __future__ import annotations

from collections.abc import Mapping

from kvfence.probe.campaign import NextRound
from kvfence.probe.lengths import next_round as sweep
from kvfence.probe.record import Scenario
from kvfence.probe.scenarios import all_at_once, alternating, hang_up, json_echo, pinned_pool, shared_prefix, streaming

SCENARIOS: Mapping[Scenario, NextRound] = {
    Scenario.SWEEP: sweep,
    Scenario.ALTERNATING: alternating.next_round,
    Scenario.CONCURRENT: all_at_once.next_round,
    Scenario.HANG_UP: hang_up.next_round,
    Scenario.PINNED_POOL: pinned_pool.next_round,
    Scenario.SHARED_PREFIX: shared_prefix.next_round,
    Scenario.STREAMING: streaming.next_round,
    Scenario.JSON_ECHO: json_echo.next_round,
}
