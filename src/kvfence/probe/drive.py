"""Runs a campaign over HTTP: asks what to do next, does it, records it. It plans and judges nothing itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kvfence.errors import KvfenceError, TargetError
from kvfence.findings.recall import ProbeResult
from kvfence.probe.answers import Judge
from kvfence.probe.by_scenario import by_scenario
from kvfence.probe.campaign import Campaign, next_round
from kvfence.probe.client import NAME_A_KEY, Asked, EndpointClient, chosen_model
from kvfence.probe.counting import Counter, Fitted, Fitter
from kvfence.probe.course import Course, Watcher
from kvfence.probe.journal import About, NoJournal, Recorder, cut_off
from kvfence.probe.lengths import planned
from kvfence.probe.limits import Cost, OverLimitError
from kvfence.probe.options import Options, campaign_of, with_requests
from kvfence.probe.patience import TOO_MANY
from kvfence.probe.prompts import Recipe, answer_tokens
from kvfence.probe.record import CUT_OFF, Exchange, History, Round, Scenario, Seen, Step
from kvfence.probe.refusals import SUCCESS
from kvfence.probe.registry.remembering import Remembering
from kvfence.probe.replies import ModelCard, Reply
from kvfence.probe.scenarios import SCENARIOS
from kvfence.probe.stop import Stop
from kvfence.probe.target import Bounds, Target, Tenant
from kvfence.probe.verdict import control_failed, elsewhere, harvests, leak_rate, overall, refused_though_declared

NO_JOURNAL = NoJournal()
SERVER_ERROR = 500
NOT_THERE = (404, 405)


def run(options: Options, watch: Watcher | None = None, recorder: Recorder = NO_JOURNAL) -> ProbeResult:
    """Probe an endpoint, from the start or from where the recorder's campaign was cut off.

    Raises:
        TargetError: it cannot be reached or is no such endpoint.
        UsageError: the recorder's campaign is another one.
    """
    return asyncio.run(probe(options, watch, recorder))


async def probe(
    options: Options, watch: Watcher | None = None, recorder: Recorder = NO_JOURNAL, stop: Stop | None = None
) -> ProbeResult:
    """`run`, for a caller who has an event loop.

    `stop`: asked before the endpoint has said what it is, it ends in `asyncio.CancelledError`, and nothing was asked.
    """
    target, stop = options.target, stop or Stop()
    stop.may_cancel(filter(None, [asyncio.current_task()]))
    limits = with_requests(options.limits, options.bounds)
    stopped_by = ""
    remembering = Remembering(recorder, options.registry)
    async with EndpointClient(target, limits=limits, patience=options.patience, share=options.share) as client:
        card = await _card(client, options)
        campaign = campaign_of(options, target.declared_context or card.declared_context)
        ask_endpoint = Counter(lambda text: client.count(card.name, text, options.harvester), target.dialect.counted_by)
        fitter = Fitter(options.key, options.counter or ask_endpoint, campaign.longest)
        began = options.clock()
        asker = _Asker(client, card, options, fitter, began, remembering, stop)
        judge = Judge(campaign, remembering)
        about = About(target.shown, card.name, campaign, options.bounds, target.dialect.described)
        rounds = remembering.begin(about)
        seen: Seen = tuple(one for exchanges in rounds for one in judge.judge(exchanges))
        for one in seen:
            client.purse.recall(one.exchange.spent, one.exchange.tries)
            if one.exchange.status is not None:
                client.settle(one.exchange.told_apart_by)
            if one.exchange.status == SUCCESS:
                fitter.recall(one.exchange.recipe, one.exchange.tokens if one.exchange.exact else None)
        course = Course(campaign, options.bounds, client.purse, watch, options.clock, began)
        stop.may_cancel([])
        while not (stopped_by or stop.by) and (wanted := next_round(campaign, options.bounds, seen, SCENARIOS)):
            course.goes_on(wanted, seen)
            exchanges, stopped_by = await _round(asker, wanted, len(rounds), _next_number(seen), course)
            if not exchanges:
                break
            rounds.append(exchanges)
            if all(one.exchange.step.part == CUT_OFF for one in seen) and not stop.by:
                _check_first(exchanges[0], target)
            judged = judge.judge(exchanges)
            course.went(judged)
            seen += judged
    results = harvests(seen)
    left = next_round(campaign, replace(options.bounds, requests_max=len(seen) + 1), seen, SCENARIOS)
    unasked = _unasked(campaign, options.bounds, seen, left, is_stopped=bool(stop.by))
    ended_by = f"{stop.by} stopped it" if stop.by else f"{stopped_by or 'the limit of requests'} was reached"
    verdict, reason = overall(seen, campaign, unasked=unasked, ended_by=ended_by)
    return ProbeResult(
        url=target.shown,
        model=card.name,
        declared_context=campaign.declared_context,
        token_count_by=fitter.method,
        tenants_told_apart_by=_told_apart_by(options, client),
        lengths=(*results, *elsewhere(seen)),
        verdict=verdict,
        reason=reason,
        requests=len(seen),
        seed=options.seed,
        spent=client.purse.spent,
        unasked=unasked,
        ended_by=ended_by if left else "",
        leak_rate=leak_rate(seen),
        scenarios=by_scenario(seen, campaign, options.bounds),
        refused_though_declared=refused_though_declared(seen, campaign),
        thinking_tokens=campaign.thinking_tokens,
        seconds=options.clock() - began,
    )


async def _round(asker: _Asker, wanted: Round, round_index: int, first: int, course: Course) -> tuple[History, str]:
    """All of a round, at most `concurrency` at a time, in the order of their numbers; and the limit that was reached.

    Prompts are made first, so that a request that waits for another to end follows it at once. What the limit left no
    room for is not in it, nor what was not sent before the campaign was asked to stop.
    """
    free = asyncio.Semaphore(asker.options.bounds.concurrency)

    async def one(step: Step, number: int) -> Exchange | OverLimitError:
        async with free:
            fitted = await asker.fit(step, number)
        async with free:
            course.begins(step)
            try:
                return await asker.exchange(step, fitted, round_index)
            except OverLimitError as limit:
                return limit
            finally:
                course.ends(step)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(step, number)) for number, step in enumerate(wanted, start=first)]
            asker.stop.may_cancel(tasks)
    except ExceptionGroup as errors:
        # A file that cannot be written any more is one clear line, whatever else was under way.
        raise next((one for one in errors.exceptions if isinstance(one, KvfenceError)), errors) from None
    results = [task.result() for task in tasks if not task.cancelled()]
    reached = next((str(result) for result in results if isinstance(result, OverLimitError)), "")
    return tuple(result for result in results if isinstance(result, Exchange)), reached


def _next_number(seen: Seen) -> int:
    """Of a request; where a limit cut a round, numbers have gaps."""
    return max((one.exchange.recipe.request for one in seen), default=-1) + 1


def _unasked(campaign: Campaign, bounds: Bounds, seen: Seen, left: Round, *, is_stopped: bool) -> tuple[int, ...]:
    """Lengths that the campaign would have gone on to ask; to ask once more, only where somebody stopped it."""
    results = harvests(seen)
    if control_failed(results):
        return ()
    planned_left = [tokens for tokens, _ in planned(campaign, bounds)[len(results) :]]
    return tuple(planned_left) or tuple(
        step.tokens for step in left if is_stopped or step.scenario is not Scenario.SWEEP
    )


async def _card(client: EndpointClient, options: Options) -> ModelCard:
    target = options.target
    if target.model and target.declared_context and not target.dialect.needs_card:
        return ModelCard(target.model, target.declared_context)  # nothing to look up
    return chosen_model(await client.models(options.harvester), target.model, target)


@dataclass(frozen=True, slots=True)
class _Asker:
    client: EndpointClient
    card: ModelCard
    options: Options
    fitter: Fitter
    began: float
    recorder: Recorder
    stop: Stop

    async def fit(self, step: Step, number: int) -> Fitted:
        """A prompt of the step's length; `number` is the request's in the campaign."""
        wanted = Recipe(
            seed=self.options.seed,
            tenant=step.tenant,
            request=number,
            filler_chars=0,
            depths=self.options.depths,
            form=step.form,
        )
        return await self.fitter.fit(wanted, step.tokens)

    async def exchange(self, step: Step, fitted: Fitted, round_index: int) -> Exchange:
        """Send a prompt, note what came back."""
        most = answer_tokens(self.options.depths, step.form.ask) + self.options.target.thinking_tokens
        cost = Cost(self.fitter.tokens_max(fitted), most)
        self.client.purse.set_aside(cost)
        sent = Exchange(
            step=step,
            recipe=fitted.recipe,
            tokens=fitted.tokens,
            exact=fitted.exact,
            status=None,
            foretold_tokens=fitted.tokens if fitted.exact or self.fitter.is_calibrated else None,
            spent=cost,
            started_s=self.options.clock() - self.began,
        )
        self.recorder.sent(round_index, sent)
        self.stop.is_sending()
        try:
            asked = await self._ask(step, fitted.prompt.text, cost)
        except asyncio.CancelledError:
            if not self.stop.is_at_once:
                raise
            self.stop.given_up += 1
            return cut_off(sent)
        reply = asked.reply
        tokens, detail = fitted.tokens, reply.detail
        answered_by = _other_than(self.card, reply)
        if reply.prompt_tokens is not None and not answered_by:
            tokens = self.fitter.learn(fitted, reply.prompt_tokens)
            if reply.prompt_tokens != tokens:
                detail = f"the endpoint's usage says {reply.prompt_tokens} prompt tokens, {tokens} were sent"
        elif reply.status == SUCCESS:
            self.fitter.learn_nothing()
        ended = replace(
            sent,
            tokens=tokens,
            exact=fitted.exact or reply.prompt_tokens == tokens,
            status=reply.status,
            answer=reply.text,
            usage_tokens=reply.prompt_tokens,
            finish_reason=reply.finish_reason,
            detail=_with_tries(detail, asked.tries if reply.status == TOO_MANY else 1),
            tries=asked.tries,
            spent=asked.spent,
            told_apart_by=self.client.tenant_fields,
            answered_by=answered_by,
            ended_s=self.options.clock() - self.began,
        )
        if fitted.recipe.request or _cannot_start(ended) is None:  # else asked again when the endpoint has been mended
            self.recorder.ended(ended)
        return ended

    async def _ask(self, step: Step, text: str, cost: Cost) -> Asked:
        tenant = self.options.tenant(step.tenant)
        if step.hang_up is None:
            return await self.client.ask(self.card.name, text, tenant, cost, step.delivery)
        return await self.client.ask_and_hang_up(self.card.name, text, tenant, cost, step.hang_up)


def _other_than(card: ModelCard, reply: Reply) -> str:
    """Who answered, where that is not whom the card is of; empty where it is, or where nobody says."""
    if not card.served_by or reply.served_by is None:
        return ""
    return "" if reply.served_by.casefold() in {name.casefold() for name in card.served_by} else reply.served_by


def _check_first(first: Exchange, target: Target) -> None:
    """Whether a campaign can start at all. Raises `TargetError`; a refusal of the control is for the judge."""
    if why := _cannot_start(first):
        raise TargetError(f"{target.shown} {why}")


def _cannot_start(first: Exchange) -> str | None:
    if first.status in (401, 403):
        return f"wants a key (status {first.status}); {NAME_A_KEY}"
    if first.status is None or first.status in NOT_THERE or first.status >= SERVER_ERROR:
        said = f"status {first.status}: {first.detail}" if first.status else first.detail
        return f"does not answer even a short prompt: {said}"
    return None


def _with_tries(detail: str, tries: int) -> str:
    return f"{detail}; asked {tries} times" if tries > 1 else detail


def _told_apart_by(options: Options, client: EndpointClient) -> tuple[str, ...]:
    own = options.harvester
    keys = ("api key",) if all(seeder.api_key != own.api_key for seeder in options.seeders) else ()
    fields = [name for name in client.tenant_fields if all(_in(name, one) != _in(name, own) for one in options.seeders)]
    others = ((seeder.headers, seeder.body) for seeder in options.seeders)
    differing = [_differing(own.headers, headers) + _differing(own.body, body) for headers, body in others]
    known = {name.partition(".")[0] for name in client.tenant_fields}
    in_all = (name for name in differing[0] if name not in known and all(name in names for names in differing))
    return (*keys, *fields, *in_all)


def _in(field: str, tenant: Tenant) -> object:
    """What a tenant's requests have in a field that tells tenants apart, which may stand inside another."""
    return tenant.body.get(field.partition(".")[0], tenant.salt)


def _differing(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
