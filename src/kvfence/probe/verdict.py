"""Judging a recorded history. Pure: the same history always gets the same verdict."""

from __future__ import annotations

from kvfence.findings.recall import ForeignMarker, LengthResult, LengthVerdict, ProbeVerdict
from kvfence.findings.redact import masked
from kvfence.probe.markers import Marker, is_ours, markers_in
from kvfence.probe.prompts import markers_of
from kvfence.probe.record import Campaign, Exchange, History

SUCCESS = 200


def judge(exchange: Exchange, campaign: Campaign, planted: dict[str, tuple[Marker, int]]) -> LengthResult:
    """One harvest. `planted` has every marker of the campaign so far, with its prompt's length."""
    own = [marker.text for marker in markers_of(exchange.recipe, campaign.key)]
    met = markers_in(exchange.answer)
    recalled = [text for text in met if text in own]
    others = [text for text in dict.fromkeys(met) if text not in own]
    foreign = tuple(_foreign(text, planted.get(text)) for text in others if text in planted or is_ours(text))
    verdict = _verdict(exchange, in_order=list(dict.fromkeys(recalled)) == own, foreign=bool(foreign))
    return LengthResult(
        tokens=exchange.tokens,
        why=exchange.step.why,
        status=exchange.status,
        verdict=verdict,
        recalled=len(set(recalled)),
        planted=len(own),
        foreign=len(foreign),
        evidence=foreign,
        detail=exchange.detail or _difference(verdict, len(set(recalled)), len(own)),
    )


def judge_history(history: History, campaign: Campaign) -> tuple[LengthResult, ...]:
    """Every harvest of a history, in order. A marker counts as foreign from the moment it was planted."""
    planted: dict[str, tuple[Marker, int]] = {}
    results: list[LengthResult] = []
    for exchange in history:
        if exchange.step.part == "harvest":
            results.append(judge(exchange, campaign, planted))
        for marker in markers_of(exchange.recipe, campaign.key):
            planted[marker.text] = (marker, exchange.tokens)
    return tuple(results)


def overall(results: tuple[LengthResult, ...], history: History, campaign: Campaign) -> tuple[ProbeVerdict, str]:
    """The verdict over all lengths, and why. What is known to be bad beats what is not known."""
    bad = _known_bad(results, campaign)
    if bad is not None:
        return bad
    control = results[0].tokens if results else 0
    unknown = _unknown(results, history, control=control)
    if unknown:
        return ProbeVerdict.INCONCLUSIVE, unknown
    return ProbeVerdict.CLEAN, (
        f"every marker came back, and nobody else's, up to {longest_clean(results):,} prompt tokens"
    )


def longest_clean(results: tuple[LengthResult, ...]) -> int:
    """The longest length that was answered rightly; 0 for none."""
    return max((result.tokens for result in results if result.verdict is LengthVerdict.CLEAN), default=0)


def control_failed(results: tuple[LengthResult, ...]) -> bool:
    """Whether even the short control was not recalled: then a longer failure proves nothing."""
    return bool(results) and results[0].verdict is not LengthVerdict.CLEAN


def _known_bad(results: tuple[LengthResult, ...], campaign: Campaign) -> tuple[ProbeVerdict, str] | None:
    if leaks := _tokens_of(results, LengthVerdict.LEAK):
        return ProbeVerdict.LEAK, f"another tenant's marker came back at {min(leaks):,} prompt tokens"
    if control_failed(results):
        return None
    if broken := _tokens_of(results, LengthVerdict.BROKEN):
        return ProbeVerdict.BROKEN, (
            f"status 200 without the markers that were asked for at {min(broken):,} prompt tokens"
        )
    declared = campaign.declared_context
    refused = [
        tokens for tokens in _tokens_of(results, LengthVerdict.REFUSED) if tokens + campaign.answer_tokens <= declared
    ]
    if refused:
        return ProbeVerdict.LIMIT_OVERSTATED, (
            f"{min(refused):,} prompt tokens are refused though {declared:,} are declared; "
            f"{longest_clean(results):,} were answered rightly"
        )
    return None


def _tokens_of(results: tuple[LengthResult, ...], verdict: LengthVerdict) -> list[int]:
    return [result.tokens for result in results if result.verdict is verdict]


def _unknown(results: tuple[LengthResult, ...], history: History, *, control: int) -> str:
    """Why nothing can be said although nothing bad was seen; empty when something can."""
    seeded = any(exchange.step.part == "seed" and exchange.status == SUCCESS for exchange in history)
    if not results or control_failed(results):
        return "the short control did not come back, so longer answers prove nothing"
    if _tokens_of(results, LengthVerdict.ERROR):
        return "some lengths ended in an error, so nothing is known of them"
    if not seeded:
        return "no other tenant's markers could be planted, so nothing foreign could show"
    return "" if longest_clean(results) > control else "nothing longer than the control was answered"


def _verdict(exchange: Exchange, *, in_order: bool, foreign: bool) -> LengthVerdict:
    if foreign:
        return LengthVerdict.LEAK
    if exchange.status == SUCCESS:
        return LengthVerdict.CLEAN if in_order else LengthVerdict.BROKEN
    if exchange.status is not None and 400 <= exchange.status < 500:  # noqa: PLR2004 — HTTP's client errors
        return LengthVerdict.REFUSED
    return LengthVerdict.ERROR


def _foreign(text: str, source: tuple[Marker, int] | None) -> ForeignMarker:
    if source is None:
        return ForeignMarker(planted_by="another campaign", planted_at_tokens=None, depth=None, shown=masked(text))
    marker, tokens = source
    return ForeignMarker(
        planted_by=marker.place.tenant,
        planted_at_tokens=tokens,
        depth=marker.place.depth,
        shown=masked(marker.text),
    )


def _difference(verdict: LengthVerdict, recalled: int, planted: int) -> str:
    return f"{recalled} of {planted} markers came back" if verdict is LengthVerdict.BROKEN else ""
