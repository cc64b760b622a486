"""How many requests it takes to notice an endpoint that leaks in 1 of N long requests: by probe, and by a needle test.

A simulated endpoint, no sockets: it refuses past its context, recites what it is asked for, and in 1 of N prompts
longer than half of its context a stretch of what it reads is another tenant's latest prompt, at a random place. The
markers of that stretch come back as that tenant's. The probe is the real one from plan to verdict (`next_round`,
`Judge`); only the prompt and the wire are missing. The needle test has one needle in the middle of the longest prompt,
asks again and again, and notices that its needle is missing. It is told nothing of whose text stood there.

A model may lose a marker by itself, leak or not, in a share of its answers (`--noise`). Without noise what the plan
asks for next does not depend on a leak that nobody saw, so it is made once, and only answers with foreign text are
judged; that this gives the same figures as the whole loop is checked first. What noise alone does to the verdict is
shown by `probe_noise.py`.

    python benchmarks/probe_power.py [--seeds 200] [--noise 0.01] [--one-of 10 100 1000]
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.answers import Judge
from kvfence.probe.campaign import Campaign, next_round
from kvfence.probe.prompts import Recipe, markers_of
from kvfence.probe.record import Exchange, Seen, Step
from kvfence.probe.scenarios import SCENARIOS
from kvfence.probe.target import Bounds

CONTEXT = 131_072
ONE_OF = (10, 100, 1_000)
STRETCHES = (("the whole prompt", 1.0), ("a tenth of it", 0.1))
REPEATS = 30
GIVEN_UP = 1_000_000
"""Requests after which a run is called endless; none comes near it."""


@dataclass
class Endpoint:
    """Answers as described above; it sees recipes, which say what a prompt holds."""

    rng: random.Random
    one_of: int
    stretch: float
    noise: float
    latest: dict[str, Recipe] = field(default_factory=dict)
    leaked: bool = False
    """Whether the latest answer was made with another tenant's text."""

    def answer(self, step: Step, recipe: Recipe, campaign: Campaign) -> Exchange:
        """What comes back for one prompt."""
        if step.tokens > campaign.longest:
            return Exchange(step=step, recipe=recipe, tokens=step.tokens, status=400, detail="too long a context")
        texts = [marker.text for marker in markers_of(recipe, campaign.key)]
        others = [theirs for tenant, theirs in self.latest.items() if tenant != recipe.tenant]
        self.latest[recipe.tenant] = recipe
        self.leaked = bool(others) and 2 * step.tokens > CONTEXT and self.rng.random() < 1 / self.one_of
        if self.leaked:
            theirs = [marker.text for marker in markers_of(others[-1], campaign.key)]
            start = self.rng.uniform(0, 1 - self.stretch)
            for depth in range(len(texts)):
                if start <= (2 * depth + 1) / (2 * len(texts)) <= start + self.stretch:
                    texts[depth] = theirs[depth]
        if self.rng.random() < self.noise:
            del texts[self.rng.randrange(len(texts))]
        said = "; ".join(texts) + "; END."
        return Exchange(step=step, recipe=recipe, tokens=step.tokens, status=200, answer=said, finish_reason="stop")


@dataclass(frozen=True)
class Noticed:
    """When something was noticed, and whether it was a leak."""

    requests: int
    truly: bool


def by_probe(endpoint: Endpoint, seed: int, *, depths: int, repeats: int) -> Noticed:
    """Whole campaigns, one after another, until one says leak."""
    made = 0
    for number in range(GIVEN_UP):
        campaign = Campaign(seed=seed * GIVEN_UP + number, key=b"power", declared_context=CONTEXT, depths=depths)
        run = _planned_campaign if endpoint.noise == 0 else _whole_campaign
        asked, leaked = run(endpoint, campaign, repeats)
        made += asked
        if leaked:
            return Noticed(made, endpoint.leaked)
    raise RuntimeError("nothing was noticed")


def _whole_campaign(endpoint: Endpoint, campaign: Campaign, repeats: int) -> tuple[int, bool]:
    """Every answer judged, the next request planned from it; how many were made, and whether one leaked."""
    judge = Judge(campaign)
    seen: Seen = ()
    bounds = Bounds(repeats=repeats, requests_max=GIVEN_UP)
    while wanted := next_round(campaign, bounds, seen, SCENARIOS):
        exchange = endpoint.answer(wanted[0], recipe_of(campaign, wanted[0], len(seen)), campaign)
        seen += judge.judge((exchange,))
        if seen[-1].result.verdict is LengthVerdict.LEAK:
            return len(seen), True
    return len(seen), False


def _planned_campaign(endpoint: Endpoint, campaign: Campaign, repeats: int) -> tuple[int, bool]:
    """The same where nothing but a leak can be wrong."""
    latest: dict[str, Exchange] = {}
    steps = _plan(campaign.depths, repeats)
    for number, step in enumerate(steps):
        exchange = endpoint.answer(step, recipe_of(campaign, step, number), campaign)
        if endpoint.leaked:
            judge = Judge(campaign)
            for other in latest.values():
                judge.judge((other,))
            if judge.judge((exchange,))[0].result.verdict is LengthVerdict.LEAK:
                return number + 1, True
        latest[step.tenant] = exchange
    return len(steps), False


@cache
def _plan(depths: int, repeats: int) -> tuple[Step, ...]:
    """What is asked for of an endpoint that never leaks."""
    campaign = Campaign(seed=0, key=b"power", declared_context=CONTEXT, depths=depths)
    honest = Endpoint(random.Random(0), 10**12, 0.0, 0.0)
    judge = Judge(campaign)
    seen: Seen = ()
    bounds = Bounds(repeats=repeats, requests_max=GIVEN_UP)
    while wanted := next_round(campaign, bounds, seen, SCENARIOS):
        exchange = honest.answer(wanted[0], recipe_of(campaign, wanted[0], len(seen)), campaign)
        seen += judge.judge((exchange,))
    return tuple(one.exchange.step for one in seen)


def recipe_of(campaign: Campaign, step: Step, number: int) -> Recipe:
    """Of one request's prompt, by its number in the campaign."""
    return Recipe(seed=campaign.seed, tenant=step.tenant, request=number, filler_chars=0, depths=campaign.depths)


def _check() -> None:
    """That both ways to run a campaign are one."""
    for seed in range(20):
        campaign = Campaign(seed=seed, key=b"power", declared_context=CONTEXT)
        ran = [
            run(Endpoint(random.Random(seed), 10, 0.1, 0.0), campaign, 3)
            for run in (_whole_campaign, _planned_campaign)
        ]
        if ran[0] != ran[1]:
            raise RuntimeError(f"seed {seed}: {ran}")


def by_needle(endpoint: Endpoint, seed: int) -> Noticed:
    """One needle, one depth, one length, until it is missing; other tenants' long prompts are always there."""
    campaign = Campaign(seed=seed, key=b"power", declared_context=CONTEXT, depths=1)
    step = Step(part="harvest", tenant="tenant-b", tokens=campaign.longest, why="needle")
    endpoint.latest["tenant-a"] = Recipe(seed=seed, tenant="tenant-a", request=0, filler_chars=0, depths=1)
    for number in range(1, GIVEN_UP):
        recipe = Recipe(seed=seed, tenant="tenant-b", request=number, filler_chars=0, depths=1)
        needle = markers_of(recipe, campaign.key)[0].text
        if needle not in endpoint.answer(step, recipe, campaign).answer:
            return Noticed(number, endpoint.leaked)
    raise RuntimeError("nothing was noticed")


WAYS: tuple[tuple[str, Callable[[Endpoint, int], Noticed]], ...] = (
    ("needle test", by_needle),
    ("probe", lambda endpoint, seed: by_probe(endpoint, seed, depths=5, repeats=1)),
    (f"probe --repeats {REPEATS}", lambda endpoint, seed: by_probe(endpoint, seed, depths=5, repeats=REPEATS)),
    (
        f"probe --repeats {REPEATS} --depths 16",
        lambda endpoint, seed: by_probe(endpoint, seed, depths=16, repeats=REPEATS),
    ),
)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    options.add_argument("--seeds", type=int, default=200)
    options.add_argument("--noise", type=float, default=0.0)
    options.add_argument("--one-of", type=int, nargs="*", default=ONE_OF)
    asked = options.parse_args()
    _check()
    print(f"{asked.seeds} seeds, noise {asked.noise:g}: median / 90th percentile of requests (share that was a leak)\n")
    print("| leaks in 1 of | of | " + " | ".join(name for name, _ in WAYS) + " |")
    print("| --- | --- |" + " --- |" * len(WAYS))
    for one_of in asked.one_of:
        for said, stretch in STRETCHES:
            cells = [_cell(way, asked.seeds, one_of, stretch, asked.noise) for _, way in WAYS]
            print(f"| {one_of:,} | {said} | " + " | ".join(cells) + " |", flush=True)


def _cell(way: Callable[[Endpoint, int], Noticed], seeds: int, one_of: int, stretch: float, noise: float) -> str:
    noticed = []
    for seed in range(seeds):
        rng = random.Random(f"{seed}/{one_of}/{stretch}")  # a run that can be repeated
        noticed.append(way(Endpoint(rng, one_of, stretch, noise), seed))
    requests = [one.requests for one in noticed]
    high = statistics.quantiles(requests, n=10, method="inclusive")[-1]
    truly = sum(one.truly for one in noticed) / len(noticed)
    return f"{statistics.median(requests):,.0f} / {high:,.0f} ({truly:.0%})"


if __name__ == "__main__":
    main()
