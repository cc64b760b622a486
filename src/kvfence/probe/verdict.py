"""The verdict over a campaign's judged answers. Pure: the same answers always get the same verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kvfence.findings.leak_rate import LeakRate
from kvfence.findings.listed import listed
from kvfence.findings.recall import LengthResult, LengthVerdict, ProbeVerdict
from kvfence.probe.campaign import Campaign
from kvfence.probe.json_control import can_tell
from kvfence.probe.record import Scenario, Seen
from kvfence.probe.refusals import SUCCESS
from kvfence.probe.rows import rows, trials

ESTIMATE_ERROR = 0.05
"""How far an estimated length may be off, so that a refusal near the declared context proves nothing."""
WRONG_CONTENT = {
    LengthVerdict.OFF_TOPIC: (ProbeVerdict.OFF_TOPIC, "status 200 and text that the prompt gives no cause for"),
    LengthVerdict.GARBLED: (ProbeVerdict.GARBLED, "status 200 and markers that are changed or out of order"),
    LengthVerdict.TRUNCATED: (ProbeVerdict.TRUNCATED, "status 200 and a usage that counts less than was sent"),
    LengthVerdict.LOST: (ProbeVerdict.LOST, "status 200 and not all the markers that were asked for"),
}
"""A success with the wrong content, the worst first."""
UNASKED_SHOWN = 4


def harvests(seen: Seen) -> tuple[LengthResult, ...]:
    """What the sweep showed, one row for each length, in order."""
    return rows(seen, Scenario.SWEEP)


def elsewhere(seen: Seen) -> tuple[LengthResult, ...]:
    """What was seen outside the sweep's harvests: the other scenarios, and seeds that were answered with a leak.

    Without JSON objects where those asked for alone did not all come back, but for those with another tenant's marker.
    """
    others = (row for scenario in Scenario if scenario is not Scenario.SWEEP for row in rows(seen, scenario))
    if not can_tell(seen):
        others = (row for row in others if row.scenario != Scenario.JSON_ECHO or row.verdict is LengthVerdict.LEAK)
    seeds = (one.result for one in seen if one.exchange.step.part != "harvest")
    return (*others, *(result for result in seeds if result.verdict is LengthVerdict.LEAK))


def overall(
    seen: Seen,
    campaign: Campaign,
    *,
    unasked: tuple[int, ...] = (),
    ended_by: str = "the limit of requests was reached",
) -> tuple[ProbeVerdict, str]:
    """The verdict over everything, and why. What is known to be bad beats what is not known."""
    bad = _known_bad(seen, campaign)
    if bad is not None:
        return bad
    unknown = _unknown(seen, campaign, unasked, ended_by)
    if unknown is not None:
        return unknown
    run = {one.exchange.step.scenario for one in seen}
    not_run = [scenario for scenario in campaign.scenarios if scenario not in run]
    return ProbeVerdict.CLEAN, (
        f"every marker came back, and nobody else's, up to {longest_clean(harvests(seen)):,} prompt tokens"
        + f"; not run: {', '.join(not_run)}" * bool(not_run)
    )


def leak_rate(seen: Seen) -> LeakRate:
    """Leaks among the answers that could have shown one, whoever asked and at whatever length."""
    return LeakRate(seen=sum(one.result.verdict is LengthVerdict.LEAK for one in seen), trials=sum(trials(seen)))


def longest_clean(results: tuple[LengthResult, ...]) -> int:
    """The longest length that was answered rightly; 0 for none."""
    return max((result.tokens for result in results if result.verdict is LengthVerdict.CLEAN), default=0)


def control_failed(results: tuple[LengthResult, ...]) -> bool:
    """Whether even the short control was not recalled: then a longer failure proves nothing."""
    return bool(results) and results[0].verdict is not LengthVerdict.CLEAN


def refused_though_declared(seen: Seen, campaign: Campaign) -> tuple[int, ...]:
    """Prompt tokens of every harvest that was refused though it and an answer fit into what is declared.

    None where nobody has counted a token of any prompt: then it may have been longer than was guessed.
    """
    return _refused_within(seen, campaign) if _is_counted(seen) else ()


def _is_counted(seen: Seen) -> bool:
    return any(one.exchange.exact or one.exchange.usage_tokens is not None for one in seen)


def _refused_within(seen: Seen, campaign: Campaign) -> tuple[int, ...]:
    declared = campaign.declared_context
    return tuple(
        one.exchange.tokens
        for one in seen
        if one.exchange.step.part == "harvest"
        and one.result.verdict is LengthVerdict.REFUSED
        and one.exchange.tokens * (1 if one.exchange.exact else 1 + ESTIMATE_ERROR) + campaign.answer_tokens <= declared
    )


def _known_bad(seen: Seen, campaign: Campaign) -> tuple[ProbeVerdict, str] | None:
    leaks = [one.result for one in seen if one.result.verdict is LengthVerdict.LEAK]
    if leaks:
        return ProbeVerdict.LEAK, f"{_whose(leaks)} came back at {_where(leaks)}"
    results = harvests(seen)
    if control_failed(results):
        return None
    for kind, (verdict, said) in WRONG_CONTENT.items():
        if wrong := [result for result in (*results, *elsewhere(seen)) if result.verdict is kind]:
            return verdict, f"{said}, at {_where(wrong)}"
    if refused := refused_though_declared(seen, campaign):
        return ProbeVerdict.LIMIT_OVERSTATED, (
            f"{min(refused):,} prompt tokens are refused though {campaign.declared_context:,} are declared; "
            f"{longest_clean(results):,} were answered rightly"
        )
    return None


def _where(results: Sequence[LengthResult]) -> str:
    """At what length at the least; and in which manner, where the sweep did not show it."""
    manners = dict.fromkeys(result.scenario for result in results)
    only = "" if Scenario.SWEEP in manners else f", in {' and '.join(manners)} and not in the sweep"
    return f"{min(result.tokens for result in results):,} prompt tokens{only}"


def _whose(leaks: list[LengthResult]) -> str:
    """Of this campaign's tenants first; then of a campaign that a registry knows; then of one that nobody knows."""
    markers = [marker for leak in leaks for marker in leak.evidence]
    if any(marker.origin is None and marker.depth is not None for marker in markers):
        return "another tenant's marker"
    for marker in markers:
        if (origin := marker.origin) is not None:
            when = f", planted {origin.planted_at}" if origin.planted_at else ""
            who = origin.endpoint if origin.is_of_application else f"campaign {origin.campaign} at {origin.endpoint}"
            return f"a marker of {marker.planted_by} of {who}{when},"
    return "a well-formed marker of another campaign or key (a --registry that was kept tells whose)"


def _tokens_of(results: Iterable[LengthResult], verdict: LengthVerdict) -> list[int]:
    return [result.tokens for result in results if result.verdict is verdict]


def _unknown(
    seen: Seen, campaign: Campaign, unasked: tuple[int, ...], ended_by: str
) -> tuple[ProbeVerdict, str] | None:
    """Why nothing can be said although nothing bad was seen; None when something can."""
    results = harvests(seen)
    if unasked and not results:
        return ProbeVerdict.INCONCLUSIVE, f"{ended_by} before anything could be asked"
    if not results or control_failed(results):
        return _of_control(results)
    unclear = _unclear(seen, unasked, ended_by) or _by_guess(seen, campaign)
    return (ProbeVerdict.INCONCLUSIVE, unclear) if unclear else None


def _of_control(results: tuple[LengthResult, ...]) -> tuple[ProbeVerdict, str]:
    detail = f" ({results[0].detail})" if results and results[0].detail else ""
    if results and results[0].verdict in {LengthVerdict.LOST, LengthVerdict.GARBLED, LengthVerdict.OFF_TOPIC}:
        return ProbeVerdict.WEAK_MODEL, (
            f"the model does not recite even a short control{detail}, so nothing that it does at length says anything "
            "of the server"
        )
    return (
        ProbeVerdict.INCONCLUSIVE,
        f"the short control did not come back{detail}, so longer answers prove nothing",
    )


def _by_guess(seen: Seen, campaign: Campaign) -> str:
    """That a length within the declared context was refused, and is a guess; empty where that is not so."""
    refused = () if _is_counted(seen) else _refused_within(seen, campaign)
    if not refused:
        return ""
    return (
        f"about {min(refused):,} prompt tokens were refused though {campaign.declared_context:,} are declared, but "
        "nobody counts tokens here and the length is a guess; give --tokenizer FILE to know"
    )


def _unclear(seen: Seen, unasked: tuple[int, ...], ended_by: str) -> str:
    results = harvests(seen)
    everything = (*results, *elsewhere(seen))
    if errors := _tokens_of(everything, LengthVerdict.ERROR):
        return f"{min(errors):,} prompt tokens ended in an error, so nothing is known of them"
    if others := _tokens_of(everything, LengthVerdict.ELSEWHERE):
        return f"{min(others):,} prompt tokens were answered by another provider, so nothing is known of the one asked"
    if once := _tokens_of(everything, LengthVerdict.INCONCLUSIVE):
        return f"what came back at {min(once):,} prompt tokens was cut, or not asked for often enough to count"
    if unasked:
        lengths = [f"{tokens:,}" for tokens in sorted(set(unasked))]
        return f"{ended_by} before {listed(lengths, UNASKED_SHOWN)} prompt tokens could be asked"
    if not any(one.exchange.step.part == "seed" and one.exchange.status == SUCCESS for one in seen):
        return "no other tenant's markers could be planted, so nothing foreign could show"
    return "" if longest_clean(results) > results[0].tokens else "nothing longer than the control was answered"
