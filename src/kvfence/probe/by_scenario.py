"""What was found in each manner of asking, by itself. Pure."""

from __future__ import annotations

from kvfence.findings.recall import LengthResult, LengthVerdict, ScenarioResult
from kvfence.probe.campaign import Campaign
from kvfence.probe.contrasts import contrasts
from kvfence.probe.json_control import can_tell
from kvfence.probe.record import Scenario, Seen, of_scenario
from kvfence.probe.rows import rows
from kvfence.probe.scenarios import pinned_pool
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import harvests

WORST_FIRST = (
    LengthVerdict.OFF_TOPIC,
    LengthVerdict.GARBLED,
    LengthVerdict.TRUNCATED,
    LengthVerdict.LOST,
    LengthVerdict.ERROR,
    LengthVerdict.ELSEWHERE,
    LengthVerdict.INCONCLUSIVE,
    LengthVerdict.CLEAN,
    LengthVerdict.REFUSED,
)
"""A refusal is only a scenario's verdict where nothing else came back: beside a right answer it is right."""


def by_scenario(seen: Seen, campaign: Campaign, bounds: Bounds) -> tuple[ScenarioResult, ...]:
    """One result for each of the campaign's scenarios, in their order."""
    return tuple(_result(seen, bounds, scenario) for scenario in campaign.scenarios)


def _result(seen: Seen, bounds: Bounds, scenario: Scenario) -> ScenarioResult:
    own = of_scenario(seen, scenario)
    lacking = pinned_pool.why_not(bounds, harvests(seen)) if scenario is Scenario.PINNED_POOL else ""
    if not own:
        detail = lacking or "it was not come to"
        return ScenarioResult(name=scenario, verdict=LengthVerdict.INCONCLUSIVE, requests=0, detail=detail)
    leaks = [one.result for one in own if one.result.verdict is LengthVerdict.LEAK]
    if scenario is Scenario.JSON_ECHO and not leaks and not can_tell(seen):
        detail = "a JSON object that was asked for alone did not come back as it was, so nothing else about them counts"
        return ScenarioResult(name=scenario, verdict=LengthVerdict.INCONCLUSIVE, requests=len(own), detail=detail)
    found = rows(seen, scenario)
    verdict = LengthVerdict.LEAK if leaks else _worst(found)
    at = leaks or [row for row in found if row.verdict is verdict]
    details = (_where(verdict, at), *contrasts(seen, scenario), lacking)
    return ScenarioResult(name=scenario, verdict=verdict, requests=len(own), detail="; ".join(filter(None, details)))


def _worst(found: tuple[LengthResult, ...]) -> LengthVerdict:
    kinds = {row.verdict for row in found}
    return next((verdict for verdict in WORST_FIRST if verdict in kinds), LengthVerdict.INCONCLUSIVE)


def _where(verdict: LengthVerdict, at: list[LengthResult]) -> str:
    if verdict is LengthVerdict.CLEAN or not at:
        return ""
    times = f"{len(at)} times, first" if len(at) > 1 else "once,"
    return f"{times} at {at[0].tokens:,} prompt tokens ({at[0].why})"
