"""Runs a campaign over HTTP: asks `lengths` what to do next, does it, records it. It judges nothing itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kvfence.errors import TargetError, UsageError
from kvfence.findings.recall import ProbeResult
from kvfence.probe.client import EndpointClient, chosen_model
from kvfence.probe.counting import Fitter
from kvfence.probe.lengths import next_step, planned
from kvfence.probe.prompts import ANSWER_TOKENS, Recipe
from kvfence.probe.record import Campaign, Exchange, History, Step
from kvfence.probe.replies import ModelCard, Reply
from kvfence.probe.target import Bounds, Target, Tenant
from kvfence.probe.verdict import control_failed, judge_history, leaks_to_seeder, overall

SERVER_ERROR = 500
NOT_THERE = (404, 405)
SHORTEST_CONTEXT = 1024
"""Below this there is no room for markers at three depths, an ask and an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All that a probe is given. Chance comes in as `seed` and `key`."""

    target: Target
    seeder: Tenant
    harvester: Tenant
    bounds: Bounds = field(default_factory=Bounds)
    seed: int
    key: bytes = field(repr=False)


Watcher = Callable[[Step, int], None]
"""Told before each request: the step, and how many were made before."""


def run(options: Options, watch: Watcher = lambda _step, _made: None) -> ProbeResult:
    """Probe an endpoint. Raises `TargetError` when it cannot be reached or is no such endpoint."""
    target = options.target
    with EndpointClient(target) as client:
        card = _card(client, options)
        declared = target.declared_context or card.declared_context
        if declared is None:
            raise UsageError(f"{target.shown}/models does not say how long a context it has; give it with --context")
        if declared < SHORTEST_CONTEXT:
            raise UsageError(f"a context of {declared} tokens is too short to probe; {SHORTEST_CONTEXT} are needed")
        campaign = Campaign(seed=options.seed, key=options.key, declared_context=declared, answer_tokens=ANSWER_TOKENS)
        fitter = Fitter(options.key, lambda text: client.count(card.name, text, options.harvester))
        asker = _Asker(client, card.name, options, fitter)
        history: History = ()
        while (step := next_step(campaign, options.bounds, history)) is not None:
            watch(step, len(history))
            history += (asker.exchange(step, number=len(history)),)
    results = judge_history(history, campaign)
    left = () if control_failed(results) else planned(campaign, options.bounds)[len(results) :]
    verdict, reason = overall(results, history, campaign, unasked=tuple(tokens for tokens, _ in left))
    return ProbeResult(
        url=target.shown,
        model=card.name,
        declared_context=declared,
        token_count_by=fitter.method,
        tenants_told_apart_by=_told_apart_by(options, client),
        lengths=(*results, *leaks_to_seeder(history, campaign)),
        verdict=verdict,
        reason=reason,
        requests=len(history),
        seed=options.seed,
    )


def _card(client: EndpointClient, options: Options) -> ModelCard:
    target = options.target
    if target.model and target.declared_context:
        return ModelCard(target.model, target.declared_context)  # nothing to look up
    return chosen_model(client.models(options.harvester), target.model, target)


@dataclass(frozen=True, slots=True)
class _Asker:
    client: EndpointClient
    model: str
    options: Options
    fitter: Fitter

    def exchange(self, step: Step, *, number: int) -> Exchange:
        """Fit a prompt to the step's length, send it, note what came back."""
        tenant = self.options.seeder if step.part == "seed" else self.options.harvester
        wanted = Recipe(seed=self.options.seed, tenant=tenant.name, request=number, filler_chars=0)
        fitted = self.fitter.fit(wanted, step.tokens)
        reply = self.client.ask(self.model, fitted.prompt.text, tenant, ANSWER_TOKENS)
        if number == 0:
            _check_first(reply, self.options.target)
        tokens, detail = fitted.tokens, reply.detail
        if reply.prompt_tokens is not None:
            tokens = self.fitter.learn(fitted, reply.prompt_tokens)
            if reply.prompt_tokens != tokens:
                detail = f"the endpoint's usage says {reply.prompt_tokens} prompt tokens, {tokens} were sent"
        return Exchange(
            step=step,
            recipe=fitted.recipe,
            tokens=tokens,
            exact=fitted.exact or reply.prompt_tokens == tokens,
            status=reply.status,
            answer=reply.text,
            detail=detail,
        )


def _check_first(reply: Reply, target: Target) -> None:
    """Whether a campaign can start at all. Raises `TargetError`; a refusal of the control is for the judge."""
    if reply.status in (401, 403):
        raise TargetError(f"{target.shown} wants a key (status {reply.status}); name its variable with --api-key-env")
    if reply.status is None or reply.status in NOT_THERE or reply.status >= SERVER_ERROR:
        said = f"status {reply.status}: {reply.detail}" if reply.status else reply.detail
        raise TargetError(f"{target.shown} does not answer even a short prompt: {said}")


def _told_apart_by(options: Options, client: EndpointClient) -> tuple[str, ...]:
    keys = ("api key",) if options.seeder.api_key != options.harvester.api_key else ()
    return (*keys, *client.tenant_fields)
