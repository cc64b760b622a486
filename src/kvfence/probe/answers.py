"""Judging one answer: against what its own prompt planted, and what everybody else's did. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kvfence.findings.depth_recall import NO_ANSWER, DepthRecall
from kvfence.findings.recall import LengthResult, LengthVerdict
from kvfence.probe.campaign import Campaign
from kvfence.probe.coherence import drift
from kvfence.probe.foreign import NO_MEMORY, LongMemory, foreign_in
from kvfence.probe.given_back import given_back
from kvfence.probe.markers import Marker, pieces_in
from kvfence.probe.prompts import Ask, markers_of, object_of
from kvfence.probe.recital import Recital, recital
from kvfence.probe.record import Exchange, History, Judged, Seen
from kvfence.probe.refusals import SUCCESS, verdict_without_answer

SHORT_BY = 0.05
"""Usage that is so much less than a count is no count of the same prompt; templates only ever add."""
SHORT_BY_ESTIMATED = 0.1
"""The same, where what was sent is an estimate."""
CUT_AT_LIMIT = "length"


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


def judge(
    exchange: Exchange,
    campaign: Campaign,
    planted: Planted,
    *,
    usage_counts: bool = True,
    memory: LongMemory = NO_MEMORY,
) -> LengthResult:
    """One answer, against what its own prompt planted and what was planted before.

    `usage_counts`: whether the endpoint's usage has shown to be a count of what is sent; `memory`: who knows other
    campaigns' markers.
    """
    own = tuple(marker.text for marker in markers_of(exchange.recipe, campaign.key))
    known = planted.met_in(exchange.answer)
    foreign = foreign_in(exchange.answer, own, known, tenant=exchange.recipe.tenant, memory=memory)
    read = recital(exchange.answer, own, cut=exchange.finish_reason == CUT_AT_LIMIT, known=foreign.texts)
    is_json = exchange.recipe.form.ask is Ask.JSON
    elsewhere = exchange.answered_by and f"it was answered by {exchange.answered_by}, and not by whom it was sent to"
    if foreign.is_leak:
        verdict, why = LengthVerdict.LEAK, elsewhere
    elif elsewhere:
        verdict, why = LengthVerdict.ELSEWHERE, elsewhere
    elif exchange.status != SUCCESS:
        verdict, why = verdict_without_answer(exchange.status, exchange.detail), ""
    elif usage_counts and (short := usage_shortfall(exchange)):
        verdict, why = LengthVerdict.TRUNCATED, short
    elif is_json and not foreign.earlier:
        cut = exchange.finish_reason == CUT_AT_LIMIT
        verdict, why = given_back(exchange.answer, object_of(exchange.recipe, campaign.key), cut=cut)
    else:
        verdict, why = _of_content(read, cut=exchange.finish_reason == CUT_AT_LIMIT, earlier=foreign.earlier)
    return LengthResult(
        tokens=exchange.tokens,
        why=exchange.step.why,
        status=exchange.status,
        verdict=verdict,
        recalled=len(read.recalled),
        planted=len(own),
        foreign=len(foreign.evidence),
        evidence=foreign.evidence,
        detail="; ".join(filter(None, (why, _longer_than_asked(exchange), exchange.detail))),
        scenario=exchange.step.scenario,
        by_depth=_by_depth(read) if exchange.status == SUCCESS and not (is_json or elsewhere) else NO_ANSWER,
        seconds=max(0.0, exchange.ended_s - exchange.started_s),
    )


def _longer_than_asked(exchange: Exchange) -> str:
    """That a prompt is longer than was wanted because it has its markers; empty where it is not."""
    wanted, recipe = exchange.step.tokens, exchange.recipe
    if recipe.filler_chars or exchange.tokens <= wanted:
        return ""
    return f"{wanted:,} were wanted, and with {recipe.depths} markers none is shorter"


def _by_depth(read: Recital) -> DepthRecall:
    return DepthRecall(tuple(int(text in read.recalled) for text in read.own), answers=1)


def usage_shortfall(exchange: Exchange) -> str:
    """How clearly the endpoint's usage says that less was read than was sent; empty where it does not."""
    sent, usage = exchange.foretold_tokens, exchange.usage_tokens
    if sent is None or usage is None or usage >= sent * (1 - (SHORT_BY if exchange.exact else SHORT_BY_ESTIMATED)):
        return ""
    return f"its usage counts {usage:,} prompt tokens where {sent:,} were sent"


def judged(rounds: Iterable[History], campaign: Campaign) -> Seen:
    """Every answer of a campaign, with what it shows; for the same rounds always the same."""
    judge_ = Judge(campaign)
    return tuple(one for exchanges in rounds for one in judge_.judge(exchanges))


@dataclass(slots=True)
class Judge:
    """Judges round by round, and remembers what was planted."""

    campaign: Campaign
    memory: LongMemory = NO_MEMORY
    _planted: Planted = field(default_factory=Planted)
    _usage_counts: bool | None = None
    """Whether the endpoint's usage is a count of what is sent; None until a right answer has shown it."""

    def judge(self, exchanges: History) -> Seen:
        """The answers of one round: all its prompts are planted before any is read, for they may have met."""
        for exchange in exchanges:
            self._planted.add(exchange, self.campaign)
        return tuple(Judged(exchange, self._judge_one(exchange)) for exchange in exchanges)

    def _judge_one(self, exchange: Exchange) -> LengthResult:
        if self._usage_counts is None:
            plain = judge(exchange, self.campaign, self._planted, usage_counts=False, memory=self.memory)
            known = exchange.foretold_tokens is not None and exchange.usage_tokens is not None
            if known and plain.verdict is LengthVerdict.CLEAN:
                self._usage_counts = not usage_shortfall(exchange)  # all that was sent was read, so usage is wrong
        usage_counts = self._usage_counts is not False
        return judge(exchange, self.campaign, self._planted, usage_counts=usage_counts, memory=self.memory)


def _of_content(read: Recital, *, cut: bool, earlier: int) -> tuple[LengthVerdict, str]:
    """What a success that has nobody else's marker is, and why."""
    back = f"{len(read.recalled)} of {len(read.own)} markers came back"
    if off := drift(read.prose):
        return LengthVerdict.OFF_TOPIC, f"{back}, with {off}"
    if earlier:
        return LengthVerdict.GARBLED, f"{back}, with {earlier} of earlier prompts of the same tenant"
    return (LengthVerdict.CLEAN, "") if read.is_right else _of_markers(read, back, cut=cut)


def _of_markers(read: Recital, back: str, *, cut: bool) -> tuple[LengthVerdict, str]:
    """What is wrong with the markers of an answer that is about what was asked."""
    if read.changed or read.corrupt:
        how = f"{read.changed} changed or made up" if read.changed else "runs of one sign or of no text"
        return LengthVerdict.GARBLED, f"{back}, with {how}"
    if not read.in_order:
        return LengthVerdict.GARBLED, f"{back}, in another order"
    if cut and read.is_start and (read.recalled or not read.had_room):
        return LengthVerdict.INCONCLUSIVE, f"{back} before the answer ended at its limit of tokens"
    return LengthVerdict.LOST, back
