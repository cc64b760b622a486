"""Judging one answer: against what its own prompt planted, and what everybody else's did. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kvfence.findings.recall import ForeignMarker, LengthResult, LengthVerdict
from kvfence.findings.redact import masked
from kvfence.probe.campaign import Campaign
from kvfence.probe.markers import Marker, is_ours, markers_in, pieces_in
from kvfence.probe.prompts import markers_of
from kvfence.probe.record import Exchange, History, Judged, Seen

SUCCESS = 200
REFUSALS = frozenset({400, 413, 414, 422, 431})
"""What a prompt that is too long is answered with. Other 4xx (a key, a rate, a path) say nothing of its length."""


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


def judged(rounds: Iterable[History], campaign: Campaign) -> Seen:
    """Every answer of a campaign, with what it shows; for the same rounds always the same."""
    judge_ = Judge(campaign)
    return tuple(one for exchanges in rounds for one in judge_.judge(exchanges))


@dataclass(slots=True)
class Judge:
    """Judges round by round, and remembers what was planted."""

    campaign: Campaign
    _planted: Planted = field(default_factory=Planted)

    def judge(self, exchanges: History) -> Seen:
        """The answers of one round: all its prompts are planted before any is read, for they may have met."""
        for exchange in exchanges:
            self._planted.add(exchange, self.campaign)
        return tuple(Judged(exchange, judge(exchange, self.campaign, self._planted)) for exchange in exchanges)


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
