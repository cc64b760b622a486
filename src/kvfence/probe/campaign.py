"""What a campaign is, and which requests it wants next. Pure: the next round follows from what has been seen.

So a campaign that was cut off goes on from its recorded history, and a test can play any endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice

from kvfence.probe.prompts import DEPTHS, Ask, answer_tokens
from kvfence.probe.record import Round, Scenario, Seen
from kvfence.probe.rows import round_again
from kvfence.probe.target import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What does not change during a campaign."""

    seed: int
    key: bytes = field(repr=False)
    declared_context: int
    depths: int = DEPTHS
    """How many markers each prompt carries."""
    seeders: tuple[str, ...] = ("tenant-a",)
    """Names of the tenants who fill the cache, in turn."""
    harvester: str = "tenant-b"
    thinking_tokens: int = 0
    """What every answer may have beside what is recited."""
    scenarios: tuple[Scenario, ...] = (Scenario.SWEEP,)
    """In their order; the sweep over lengths is first, for the others build on what it finds."""

    def in_turn(self, count: int) -> tuple[str, ...]:
        """So many tenants, as they take turns when all ask at once; the harvester begins."""
        return tuple(islice(cycle((self.harvester, *self.seeders)), count))

    @property
    def answer_tokens(self) -> int:
        """The most that an answer may have."""
        return self.answer_tokens_for(Ask.CODES)

    def answer_tokens_for(self, ask: Ask) -> int:
        """The same, of an answer to one kind of ask."""
        return answer_tokens(self.depths, ask) + self.thinking_tokens

    @property
    def longest(self) -> int:
        """The longest prompt that leaves room for the answer within the declared context."""
        return self.declared_context - self.answer_tokens


NextRound = Callable[[Campaign, Bounds, Seen], Round]
"""A scenario: the next round of its own, or an empty one when it is over. It sees everything."""


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen, scenarios: Mapping[Scenario, NextRound]) -> Round:
    """What to ask next; empty when the campaign is over or its bound of requests is reached."""
    left = bounds.requests_max - len(seen)
    for scenario in campaign.scenarios:
        wanted = scenarios[scenario](campaign, bounds, seen)
        if not wanted and scenario is not Scenario.SWEEP:  # the sweep asks again for what is undecided as it goes
            wanted = round_again(seen, scenario)
        if wanted:
            return wanted[: max(left, 0)]
    return ()
