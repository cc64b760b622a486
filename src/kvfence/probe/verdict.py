"""Judging a recorded history. Pure: the same history always gets the same verdict."""

from __future__ import annotations

from dataclasses import dataclass, field

from kvfence.findings.recall import ForeignMarker, LengthResult, LengthVerdict, ProbeVerdict
from kvfence.findings.redact import masked
from kvfence.probe.markers import Marker, is_ours, markers_in, pieces_in
from kvfence.probe.prompts import markers_of
from kvfence.probe.record import Campaign, Exchange, History

SUCCESS = 200
REFUSALS = frozenset({400, 413, 414, 422, 431})
"""What a prompt that is too long is answered with. Other 4xx (a key, a rate, a path) say nothing of its length."""
ESTIMATE_ERROR = 0.05
"""How far an estimated length may be off, so that a refusal near the declared context proves nothing."""


@dataclass(slots=True)
class Planted:
    """Every marker of a campaign up to now, by its text and by its pieces."""

    _places: dict[str, tuple[Marker, int]] = field(default_factory=dict)

    def add(self, exchange: Exchange, campaign: Campaign) -> None:
        """The markers of one more prompt."""
        for marker in markers_of(exchange.recipe, campaign.key):
            for text in (marker.text, *pieces_in(marker.text)):
                self._places[text] = (marker, exchange.tokens)

    def met_in(self, answer: str) -> dict[str, tuple[Marker, int]]:
        """Markers of which an answer has at least a piece, with the lengths of their prompts."""
        found = [self._places[piece] for piece in sorted(pieces_in(answer)) if piece in self._places]
        return {marker.text: (marker, tokens) for marker, tokens in found}


def judge(exchange: Exchange, campaign: Campaign, planted: Planted) -> LengthResult:
    """One answer, against what its own prompt planted and what was planted before."""
    own = [marker.text for marker in markers_of(exchange.recipe, campaign.key)]
    met = markers_in(exchange.answer)
    recalled = list(dict.fromkeys(text for text in met if text in own))
    known = {text: place for text, place in planted.met_in(exchange.answer).items() if text not in own}
    strays = [text for text in dict.fromkeys(met) if text not in own and text not in known and is_ours(text)]
    foreign = (*(_of_campaign(*place) for place in known.values()), *(_of_another(text) for text in strays))
    others = bool(strays) or any(marker.place.tenant != exchange.recipe.tenant for marker, _ in known.values())
    verdict = _verdict(exchange, right=recalled == own and not foreign, others=others)
    return LengthResult(
        tokens=exchange.tokens,
        why=exchange.step.why,
        status=exchange.status,
        verdict=verdict,
        recalled=len(recalled),
        planted=len(own),
        foreign=len(foreign),
        evidence=foreign,
        detail=exchange.detail or _difference(verdict, len(recalled), len(own)),
    )


def judge_history(history: History, campaign: Campaign) -> tuple[LengthResult, ...]:
    """Every harvest of a history, in order. A marker counts as foreign from the moment it was planted."""
    return tuple(result for result, harvest in _judged(history, campaign) if harvest)


def leaks_to_seeder(history: History, campaign: Campaign) -> tuple[LengthResult, ...]:
    """Answers to the seeding tenant that carry the harvester's markers: a leak too, though nobody looked for it."""
    return tuple(
        result for result, harvest in _judged(history, campaign) if not harvest and result.verdict is LengthVerdict.LEAK
    )


def overall(
    results: tuple[LengthResult, ...], history: History, campaign: Campaign, *, unasked: tuple[int, ...] = ()
) -> tuple[ProbeVerdict, str]:
    """The verdict over all lengths, and why. What is known to be bad beats what is not known."""
    bad = _known_bad(results, history, campaign)
    if bad is not None:
        return bad
    unknown = _unknown(results, history, unasked)
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


def _judged(history: History, campaign: Campaign) -> list[tuple[LengthResult, bool]]:
    planted = Planted()
    judged: list[tuple[LengthResult, bool]] = []
    for exchange in history:
        judged.append((judge(exchange, campaign, planted), exchange.step.part == "harvest"))
        planted.add(exchange, campaign)
    return judged


def _known_bad(
    results: tuple[LengthResult, ...], history: History, campaign: Campaign
) -> tuple[ProbeVerdict, str] | None:
    leaks = _tokens_of((*results, *leaks_to_seeder(history, campaign)), LengthVerdict.LEAK)
    if leaks:
        return ProbeVerdict.LEAK, f"another tenant's marker came back at {min(leaks):,} prompt tokens"
    if control_failed(results):
        return None
    if broken := _tokens_of(results, LengthVerdict.BROKEN):
        return (
            ProbeVerdict.BROKEN,
            f"status 200 and not the markers that were asked for at {min(broken):,} prompt tokens",
        )
    if refused := _refused_though_declared(history, campaign):
        return ProbeVerdict.LIMIT_OVERSTATED, (
            f"{min(refused):,} prompt tokens are refused though {campaign.declared_context:,} are declared; "
            f"{longest_clean(results):,} were answered rightly"
        )
    return None


def _refused_though_declared(history: History, campaign: Campaign) -> list[int]:
    declared = campaign.declared_context
    return [
        exchange.tokens
        for exchange in history
        if exchange.step.part == "harvest"
        and exchange.status in REFUSALS
        and exchange.tokens * (1 if exchange.exact else 1 + ESTIMATE_ERROR) + campaign.answer_tokens <= declared
    ]


def _tokens_of(results: tuple[LengthResult, ...], verdict: LengthVerdict) -> list[int]:
    return [result.tokens for result in results if result.verdict is verdict]


def _unknown(results: tuple[LengthResult, ...], history: History, unasked: tuple[int, ...]) -> str:
    """Why nothing can be said although nothing bad was seen; empty when something can."""
    seeded = any(exchange.step.part == "seed" and exchange.status == SUCCESS for exchange in history)
    if not results or control_failed(results):
        said = f" ({results[0].detail})" if results and results[0].detail else ""
        return f"the short control did not come back{said}, so longer answers prove nothing"
    if errors := _tokens_of(results, LengthVerdict.ERROR):
        return f"{min(errors):,} prompt tokens ended in an error, so nothing is known of them"
    if unasked:
        return f"the limit of requests was reached before {min(unasked):,} prompt tokens could be asked"
    if not seeded:
        return "no other tenant's markers could be planted, so nothing foreign could show"
    return "" if longest_clean(results) > results[0].tokens else "nothing longer than the control was answered"


def _verdict(exchange: Exchange, *, right: bool, others: bool) -> LengthVerdict:
    if others:
        return LengthVerdict.LEAK
    if exchange.status == SUCCESS:
        return LengthVerdict.CLEAN if right else LengthVerdict.BROKEN
    return LengthVerdict.REFUSED if exchange.status in REFUSALS else LengthVerdict.ERROR


def _of_campaign(marker: Marker, tokens: int) -> ForeignMarker:
    place = marker.place
    return ForeignMarker(
        planted_by=place.tenant, planted_at_tokens=tokens, depth=place.depth, shown=masked(marker.text)
    )


def _of_another(text: str) -> ForeignMarker:
    return ForeignMarker(planted_by="another campaign", planted_at_tokens=None, depth=None, shown=masked(text))


def _difference(verdict: LengthVerdict, recalled: int, planted: int) -> str:
    return f"{recalled} of {planted} markers came back" if verdict is LengthVerdict.BROKEN else ""
