"""Runs a campaign over HTTP: asks `lengths` what to do next, does it, records it. It judges nothing itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kvfence.errors import TargetError, UsageError
from kvfence.findings.recall import ProbeResult
from kvfence.probe.client import EndpointClient, ModelCard, chosen_model
from kvfence.probe.counting import Fitter
from kvfence.probe.lengths import next_step
from kvfence.probe.prompts import ANSWER_TOKENS, Recipe
from kvfence.probe.record import Campaign, Exchange, History, Step
from kvfence.probe.target import Bounds, Target, Tenant
from kvfence.probe.verdict import judge_history, overall

SERVER_ERROR = 500
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
            raise UsageError(f"{target.url('models')} does not say how long a context it has; give it with --context")
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
    verdict, reason = overall(results, history, campaign)
    return ProbeResult(
        url=target.base_url,
        model=card.name,
        declared_context=declared,
        token_count_by=fitter.method,
        lengths=results,
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
        recipe, prompt, tokens = self.fitter.fit(wanted, step.tokens)
        reply = self.client.ask(self.model, prompt.text, tenant, ANSWER_TOKENS)
        if number == 0 and (reply.status is None or reply.status >= SERVER_ERROR):
            url = self.options.target.base_url
            raise TargetError(f"{url} does not answer even a short prompt: {reply.detail or reply.status}")
        detail = reply.detail
        if reply.prompt_tokens is not None:
            if self.fitter.exact and reply.prompt_tokens != tokens:
                detail = f"the endpoint's usage says {reply.prompt_tokens} prompt tokens, {tokens} were sent"
            self.fitter.learn(prompt, reply.prompt_tokens)
            tokens = tokens if self.fitter.exact else reply.prompt_tokens
        return Exchange(step=step, recipe=recipe, tokens=tokens, status=reply.status, answer=reply.text, detail=detail)
