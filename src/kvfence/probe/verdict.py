"""The verdict over a campaign's judged answers. Pure: the same answers always get the same verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kvfence.findings.recall import LengthResult, LengthVerdict, ProbeVerdict
from kvfence.probe.answers import REFUSALS, SUCCESS
from kvfence.probe.campaign import Campaign
from kvfence.probe.record import Scenario, Seen

ESTIMATE_ERROR = 0.05
"""How far an estimated length may be off, so that a refusal near the declared context proves nothing."""


def harvests(seen: Seen) -> tuple[LengthResult, ...]:
    """What the sweep's harvests showed, in order."""
    return tuple(
        one.result
        for one in seen
        if one.exchange.step.part == "harvest" and one.exchange.step.scenario is Scenario.SWEEP
    )


def leaks_elsewhere(seen: Seen) -> tuple[LengthResult, ...]:
    """Leaks outside the sweep's harvests, such as an answer to the seeding tenant with the harvester's markers."""
    of_sweep = {id(result) for result in harvests(seen)}
    return tuple(
        one.result for one in seen if one.result.verdict is LengthVerdict.LEAK and id(one.result) not in of_sweep
    )


def overall(seen: Seen, campaign: Campaign, *, unasked: tuple[int, ...] = ()) -> tuple[ProbeVerdict, str]:
    """The verdict over everything, and why. What is known to be bad beats what is not known."""
    bad = _known_bad(seen, campaign)
    if bad is not None:
        return bad
    unknown = _unknown(seen, unasked)
    if unknown:
        return ProbeVerdict.INCONCLUSIVE, unknown
    return ProbeVerdict.CLEAN, (
        f"every marker came back, and nobody else's, up to {longest_clean(harvests(seen)):,} prompt tokens"
    )


def longest_clean(results: tuple[LengthResult, ...]) -> int:
    """The longest length that was answered rightly; 0 for none."""
    return max((result.tokens for result in results if result.verdict is LengthVerdict.CLEAN), default=0)


def control_failed(results: tuple[LengthResult, ...]) -> bool:
    """Whether even the short control was not recalled: then a longer failure proves nothing."""
    return bool(results) and results[0].verdict is not LengthVerdict.CLEAN


def _known_bad(seen: Seen, campaign: Campaign) -> tuple[ProbeVerdict, str] | None:
    results = harvests(seen)
    leaks = _tokens_of((one.result for one in seen), LengthVerdict.LEAK)
    if leaks:
        return ProbeVerdict.LEAK, f"another tenant's marker came back at {min(leaks):,} prompt tokens"
    if control_failed(results):
        return None
    if broken := _tokens_of(_all_harvests(seen), LengthVerdict.BROKEN):
        return (
            ProbeVerdict.BROKEN,
            f"status 200 and not the markers that were asked for at {min(broken):,} prompt tokens",
        )
    if refused := _refused_though_declared(seen, campaign):
        return ProbeVerdict.LIMIT_OVERSTATED, (
            f"{min(refused):,} prompt tokens are refused though {campaign.declared_context:,} are declared; "
            f"{longest_clean(results):,} were answered rightly"
        )
    return None


def _all_harvests(seen: Seen) -> Iterator[LengthResult]:
    return (one.result for one in seen if one.exchange.step.part == "harvest")


def _refused_though_declared(seen: Seen, campaign: Campaign) -> list[int]:
    declared = campaign.declared_context
    return [
        exchange.tokens
        for exchange in (one.exchange for one in seen)
        if exchange.step.part == "harvest"
        and exchange.status in REFUSALS
        and exchange.tokens * (1 if exchange.exact else 1 + ESTIMATE_ERROR) + campaign.answer_tokens <= declared
    ]


def _tokens_of(results: Iterable[LengthResult], verdict: LengthVerdict) -> list[int]:
    return [result.tokens for result in results if result.verdict is verdict]


def _unknown(seen: Seen, unasked: tuple[int, ...]) -> str:
    """Why nothing can be said although nothing bad was seen; empty when something can."""
    results = harvests(seen)
    seeded = any(one.exchange.step.part == "seed" and one.exchange.status == SUCCESS for one in seen)
    if not results or control_failed(results):
        said = f" ({results[0].detail})" if results and results[0].detail else ""
        return f"the short control did not come back{said}, so longer answers prove nothing"
    if errors := _tokens_of(_all_harvests(seen), LengthVerdict.ERROR):
        return f"{min(errors):,} prompt tokens ended in an error, so nothing is known of them"
    if unasked:
        return f"the limit of requests was reached before {min(unasked):,} prompt tokens could be asked"
    if not seeded:
        return "no other tenant's markers could be planted, so nothing foreign could show"
    return "" if longest_clean(results) > results[0].tokens else "nothing longer than the control was answered"
