"""What a campaign would ask and cost, before anything is sent: the plan played against an endpoint that keeps its word.

The real plan runs, round by round; only the answers are made up: clean up to the declared context, refused past it. A
leak or an early refusal would add a bisection to it.
"""

from __future__ import annotations

from kvfence.findings.foreseen import Foreseen, ForeseenRequest
from kvfence.findings.recall import LengthResult, LengthVerdict
from kvfence.probe.campaign import Campaign, next_round
from kvfence.probe.limits import Cost, OverLimitError, Purse
from kvfence.probe.options import Options, campaign_of, with_requests
from kvfence.probe.prompts import Recipe
from kvfence.probe.record import Exchange, Judged, Seen, Step
from kvfence.probe.scenarios import SCENARIOS

PROMPT_TOKENS_A_SECOND = 10_000
ANSWER_TOKENS_A_SECOND = 50
"""What is assumed of an endpoint; both are said beside the time."""


def foresee(options: Options) -> Foreseen:
    """Play the campaign. Raises `UsageError` where the declared context is not given: nothing is asked for it."""
    target, bounds = options.target, options.bounds
    campaign = campaign_of(options, target.declared_context)
    limits = with_requests(options.limits, bounds)
    purse = Purse(limits)
    seen: Seen = ()
    stopped_by = ""
    while not stopped_by and (wanted := next_round(campaign, bounds, seen, SCENARIOS)):
        for step in wanted:
            refused = step.tokens > campaign.longest
            try:
                most = campaign.answer_tokens_for(step.form.ask)
                purse.set_aside(Cost(0, 0) if refused else Cost(step.tokens, most))
            except OverLimitError as limit:
                stopped_by = str(limit)
                break
            seen += (_made_up(step, campaign, number=len(seen), refused=refused),)
    spent = purse.spent
    at_work = spent.prompt_tokens / PROMPT_TOKENS_A_SECOND + spent.answer_tokens / ANSWER_TOKENS_A_SECOND
    pace = spent.requests / limits.requests_per_s if limits.requests_per_s else 0.0
    steps = [one.exchange.step for one in seen]
    return Foreseen(
        url=target.shown,
        model=target.model or "the first model",
        declared_context=campaign.declared_context,
        requests=tuple(
            ForeseenRequest(tokens=step.tokens, part=step.part, why=step.why, scenario=step.scenario) for step in steps
        ),
        spent=spent,
        seconds=max(at_work, pace),
        speeds=f"at {PROMPT_TOKENS_A_SECOND:,} prompt and {ANSWER_TOKENS_A_SECOND} answer tokens a second, assumed",
        stopped_by=stopped_by or ("the limit of requests" if len(seen) >= bounds.requests_max else ""),
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
