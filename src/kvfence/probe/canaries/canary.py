"""A canary: buries a marker in a prompt, and checks the answer for it.

canary = probe.canary()
answer = ask(canary.bury(prompt))
canary.check(answer)
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from kvfence.errors import UsageError
from kvfence.findings.canary import CanaryResult, CanaryVerdict
from kvfence.probe.canaries.judging import Expected, judge
from kvfence.probe.canaries.memory import MEMORY, Planted, Registry
from kvfence.probe.canaries.places import gap
from kvfence.probe.canaries.wording import ASK, carrier
from kvfence.probe.markers import Place, make_marker

__all__ = ["Canary", "CanaryResult", "CanaryVerdict", "canary"]

_KEY = secrets.token_bytes(32)
_NUMBERS = count(1)


@dataclass(slots=True, kw_only=True)
class Canary:
    """Buries markers in one prompt after the other, and checks each one's answer before the next is buried.

    Not for several prompts at once: make one canary for each, which costs nothing.
    """

    owner: str
    """Whose prompts these are; a leak elsewhere names it."""
    depth: float | None = None
    """Where markers go, from 0 (the start of the prompt) to 1 (its end); None: anywhere, by chance."""
    registry: Registry = field(default_factory=lambda: MEMORY)
    rng: random.Random = field(default_factory=random.SystemRandom, repr=False)
    key: bytes = field(default=_KEY, repr=False)
    clock: Callable[[], float] = time.time
    _expected: Expected | None = field(default=None, init=False)
    _buried: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.depth is not None and not 0 <= self.depth <= 1:
            raise UsageError(f"a depth of {self.depth}: give one from 0, the prompt's start, to 1, its end")

    def bury(self, prompt: str) -> str:
        """The prompt with a new marker in it, and an ask for it at its end."""
        self._buried += 1
        marker = make_marker(self.rng, self.key, Place(self.owner, self._buried, 0)).text
        self.registry.plant(Planted(marker, self.owner, self.clock()))
        self._expected = Expected.of(marker, prompt)
        depth = self.rng.random() if self.depth is None else self.depth
        return gap(prompt, depth).fill(prompt, carrier(marker)) + ASK

    def check(self, answer: str, *, cut: bool = False) -> CanaryResult:
        """What the answer to the last prompt shows.

        `cut`: the answer ended at its limit of tokens, so that a missing marker says nothing.

        Raises:
            UsageError: nothing was buried.
        """
        if self._expected is None:
            raise UsageError("no marker was buried: ask with canary.bury(prompt), then check the answer")
        return judge(answer, self._expected, self.registry, cut=cut)


def canary(*, owner: str = "", depth: float | None = None, registry: Registry = MEMORY) -> Canary:
    """A canary for prompts of one's own.

    Args:
        owner: whose prompts these are; a marker of them that turns up in another answer is told as theirs.
        depth: where in a prompt the marker goes, from 0 to 1; anywhere if not said.
        registry: who remembers markers; all of this process's canaries know each other if not said.

    Raises:
        UsageError: there is no such depth.
    """
    return Canary(owner=owner or f"canary {next(_NUMBERS)}", depth=depth, registry=registry)
