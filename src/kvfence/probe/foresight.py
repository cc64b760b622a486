"""What a campaign would ask and cost, before anything is sent: the plan played against an endpoint that keeps its word.

The real plan runs, round by round; only the answers are made up: clean up to the declared context, refused past it. A
leak or an early refusal would add a bisection to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from kvfence.findings.foreseen import Foreseen, ForeseenRequest
from kvfence.findings.listed import listed
from kvfence.findings.recall import LengthResult, LengthVerdict
from kvfence.probe.campaign import Campaign, next_round
from kvfence.probe.limits import NOTHING, Cost, OverLimitError, Purse
from kvfence.probe.options import Options, campaign_of, with_requests
from kvfence.probe.prompts import Recipe, fixed_chars
from kvfence.probe.record import Exchange, Judged, Round, Seen, Step
from kvfence.probe.scenarios import SCENARIOS
from kvfence.probe.target import Bounds

PROMPT_TOKENS_A_SECOND = 10_000
ANSWER_TOKENS_A_SECOND = 50
"""What is assumed of an endpoint; both are said beside the time."""
LISTED_MAX = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What a campaign goes on to ask of an endpoint that keeps its word."""

    rounds: tuple[Round, ...]
    purse: Purse
    """When all of them have been asked."""
    stopped_by: str
    """The limit that ends it before it is over; empty for none."""
    is_all: bool
    """Whether the plan ends there, or it was looked no further."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """All requests in their order."""
        return tuple(chain.from_iterable(self.rounds))


def ahead(campaign: Campaign, bounds: Bounds, purse: Purse, seen: Seen = (), *, at_most: int | None = None) -> Ahead:
    """Play the campaign on from what has been seen, for at most so many requests. `purse` is left as it is."""
    purse = purse.apart()
    rounds: list[Round] = []
    stopped_by = ""
    asked = 0
    while not stopped_by and (wanted := next_round(campaign, bounds, seen, SCENARIOS)):
        if at_most is not None and asked >= at_most:
            return Ahead(rounds=tuple(rounds), purse=purse, stopped_by="", is_all=False)
        taken: Round = ()
        for step in wanted:
            refused = step.tokens > campaign.longest
            try:
                most = campaign.answer_tokens_for(step.form.ask)
                tokens = max(step.tokens, fixed_chars(campaign.depths, step.form.ask))
                purse.set_aside(NOTHING if refused else Cost(tokens, most))
            except OverLimitError as limit:
                stopped_by = str(limit)
                break
            seen += (_made_up(step, campaign, number=len(seen), refused=refused),)
            taken += (step,)
        asked += len(taken)
        rounds.append(taken)
    if not stopped_by and len(seen) >= bounds.requests_max:
        stopped_by = "the limit of requests"
    return Ahead(rounds=tuple(rounds), purse=purse, stopped_by=stopped_by, is_all=True)


def foresee(options: Options) -> Foreseen:
    """Play the campaign. Raises `UsageError` where the declared context is not given: nothing is asked for it."""
    target, bounds = options.target, options.bounds
    campaign = campaign_of(options, target.declared_context)
    limits = with_requests(options.limits, bounds)
    played = ahead(campaign, bounds, Purse(limits))
    spent = played.purse.spent
    at_work = spent.prompt_tokens / PROMPT_TOKENS_A_SECOND + spent.answer_tokens / ANSWER_TOKENS_A_SECOND
    pace = spent.requests / limits.requests_per_s if limits.requests_per_s else 0.0
    return Foreseen(
        url=target.shown,
        model=target.model or "the first model",
        declared_context=campaign.declared_context,
        requests=tuple(
            ForeseenRequest(tokens=step.tokens, part=step.part, why=step.why, scenario=step.scenario)
            for step in played.steps
        ),
        spent=spent,
        seconds=max(at_work, pace),
        speeds=f"at {PROMPT_TOKENS_A_SECOND:,} prompt and {ANSWER_TOKENS_A_SECOND} answer tokens a second, assumed",
        longer_than_asked=_longer_than_asked(campaign, bounds),
        stopped_by=played.stopped_by,
    )


def _longer_than_asked(campaign: Campaign, bounds: Bounds) -> str:
    """Whether some of the lengths that were asked for are too short for their markers, in words; empty where none is.

    How many tokens the shortest prompt has is known only to a tokenizer: at most one for each of its characters.
    """
    shortest = fixed_chars(campaign.depths)
    under = [f"{tokens:,}" for tokens in sorted(set(bounds.lengths)) if tokens < shortest]
    if not under:
        return ""
    return (
        f"a prompt with {campaign.depths} markers has {shortest:,} characters at least, which may be more than "
        f"{listed(under, LISTED_MAX)} tokens: it is then asked as short as it can be; up to {shortest:,} tokens are "
        "counted here, fewer markers (--depths) take fewer"
    )


def _made_up(step: Step, campaign: Campaign, *, number: int, refused: bool) -> Judged:
    status = 400 if refused else 200
    recipe = Recipe(seed=campaign.seed, tenant=step.tenant, request=number, filler_chars=0, depths=campaign.depths)
    result = LengthResult(
        tokens=step.tokens,
        why=step.why,
        status=status,
        verdict=LengthVerdict.REFUSED if refused else LengthVerdict.CLEAN,
        recalled=0 if refused else campaign.depths,
        planted=campaign.depths,
        foreign=0,
    )
    return Judged(Exchange(step=step, recipe=recipe, tokens=step.tokens, status=status), result)
