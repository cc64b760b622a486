"""What the probe says of a model that slips, and of a server that loses content: by the rule for wrong answers.

The endpoint of `probe_power.py`, but it leaks nothing: a marker is missing from a share of all answers (`--noise`), and
from a larger share of those to prompts longer than half of its context, where the server loses content. Whole campaigns
from plan to verdict. Beside what they say stands what they would have said by the rule before, that two wrong answers
at one length count however often it was asked for; and what a needle test says that is repeated as often.

    python benchmarks/probe_noise.py [--seeds 20] [--noise 0.02] [--repeats 1 5 30] [--losing 0 0.1 0.3 0.5]
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import Counter
from dataclasses import dataclass

from probe_power import CONTEXT, GIVEN_UP, Endpoint, recipe_of

from kvfence.findings.recall import LengthResult, ProbeVerdict
from kvfence.probe.answers import Judge
from kvfence.probe.campaign import Campaign, next_round
from kvfence.probe.prompts import Recipe
from kvfence.probe.record import Exchange, Seen, Step
from kvfence.probe.rows import WRONG
from kvfence.probe.scenarios import SCENARIOS
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import harvests, overall

NEVER = 10**12
UNDECIDED = (ProbeVerdict.CLEAN, ProbeVerdict.INCONCLUSIVE)


@dataclass
class Losing(Endpoint):
    """One that loses a marker of some long prompts, beside what its model does by itself."""

    slips: float = 0.0
    loses: float = 0.0

    def answer(self, step: Step, recipe: Recipe, campaign: Campaign) -> Exchange:
        """What comes back for one prompt."""
        self.noise = max(self.slips, self.loses) if 2 * step.tokens > CONTEXT else self.slips
        return super().answer(step, recipe, campaign)


def seen_of(endpoint: Endpoint, campaign: Campaign, repeats: int) -> Seen:
    """A whole campaign, every answer judged."""
    judge = Judge(campaign)
    seen: Seen = ()
    bounds = Bounds(repeats=repeats, requests_max=GIVEN_UP)
    while wanted := next_round(campaign, bounds, seen, SCENARIOS):
        seen += judge.judge((endpoint.answer(wanted[0], recipe_of(campaign, wanted[0], len(seen)), campaign),))
    return seen


def is_wrong_by_two(row: LengthResult) -> bool:
    """By the rule before."""
    counts = dict(row.answers) or {row.verdict: 1}
    return sum(count for verdict, count in counts.items() if verdict in WRONG) > 1


def line(seeds: int, noise: float, losing: float, repeats: int) -> str:
    """One row of the table."""
    said, by_two, made = Counter[str](), 0, []
    for seed in range(seeds):
        campaign = Campaign(seed=seed, key=b"power", declared_context=CONTEXT)
        rng = random.Random(f"{seed}/{repeats}/{losing}" if losing else f"{seed}/{repeats}")  # can be repeated
        seen = seen_of(Losing(rng, NEVER, 0.0, noise, slips=noise, loses=losing), campaign, repeats)
        said[overall(seen, campaign)[0]] += 1
        by_two += any(is_wrong_by_two(row) for row in harvests(seen))
        made.append(len(seen))
    wrong = sum(count for verdict, count in said.items() if verdict not in UNDECIDED)
    requests = round(statistics.median(made))
    needle = 1 - (1 - max(noise, losing)) ** requests
    words = ", ".join(f"{count} {verdict}" for verdict, count in said.most_common())
    return (
        f"| {losing:g} | {repeats} | {requests} | {by_two} of {seeds} | {wrong} of {seeds} | {words} | {needle:.1%} |"
    )


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--noise", type=float, default=0.02)
    options.add_argument("--repeats", type=int, nargs="*", default=(1, 5, 30))
    options.add_argument("--losing", type=float, nargs="*", default=(0.0, 0.1, 0.3, 0.5))
    asked = options.parse_args()
    print(f"{asked.seeds} campaigns each; the model loses a marker in {asked.noise:g} of its answers by itself\n")
    print(
        "| lost at length | --repeats | requests each | wrong by two | wrong | what it says | needle test (computed) |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for losing in asked.losing:
        for repeats in asked.repeats:
            print(line(asked.seeds, asked.noise, losing, repeats), flush=True)


if __name__ == "__main__":
    main()
