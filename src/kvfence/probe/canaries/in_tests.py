"""Canaries of a test session: each fails its test by itself, and any of them can say which test a marker is of."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

import pytest

from kvfence.errors import UsageError
from kvfence.findings.canary import CanaryResult, CanaryVerdict
from kvfence.probe.canaries.canary import Canary
from kvfence.probe.canaries.memory import Memory, Planted, Registry
from kvfence.probe.markers import Place, make_marker, pieces_in

CANARIES_TRIED = 8
"""How many prompts of each test are tried when a marker of another process is attributed."""


class CanaryWarning(UserWarning):
    """A marker was lost where that is allowed."""


@dataclass(slots=True)
class Session:
    """What the canaries of one test run share."""

    run: str
    """The same in all processes of one run, and not to be guessed."""
    tests: Sequence[pytest.Item]
    registry: Registry | None = None
    """Remembers beyond this run, and knows campaigns and other runs."""
    _memory: Memory = field(default_factory=Memory, init=False, repr=False)
    _numbers: dict[str, count[int]] = field(default_factory=dict, init=False, repr=False)

    def canary(self, test: str, *, depth: float | None = None, lost: str = "fail") -> CanaryOfTest:
        """A canary for one test. Raises `UsageError` for a mark that cannot be."""
        if lost not in ("fail", "warn"):
            raise UsageError(f"kv_canary(lost={lost!r}): it is 'fail' or 'warn'")
        return CanaryOfTest(session=self, test=test, depth=depth, lost_fails=lost == "fail")

    def next_canary(self, test: str, depth: float | None) -> Canary:
        """For the test's next prompt."""
        number = next(self._numbers.setdefault(test, count()))
        return Canary(owner=test, depth=depth, registry=self, rng=self._randomness(test, number), key=self.run.encode())

    def plant(self, planted: Planted) -> None:
        """Remember a marker of this process. Raises `TargetError` where the registry cannot be written."""
        self._memory.plant(planted)
        if self.registry is not None:
            self.registry.plant(planted)

    def whose(self, pieces: frozenset[str]) -> Iterable[Planted]:
        """The markers with one of these pieces: of this process, else of the run's others, else of the registry."""
        known: tuple[Planted, ...] = ()
        for memory in (
            self._memory.whose,
            self._of_other_processes,
            *((self.registry.whose,) if self.registry else ()),
        ):
            if left := pieces.difference(*(pieces_in(planted.text) for planted in known)):
                known = (*known, *memory(left))
        return known

    def _of_other_processes(self, pieces: frozenset[str]) -> Iterable[Planted]:
        for item in self.tests:
            for number in range(CANARIES_TRIED):
                rng = self._randomness(item.nodeid, number)
                text = make_marker(rng, self.run.encode(), Place(item.nodeid, 1, 0)).text
                if not pieces.isdisjoint(pieces_in(text)):
                    yield Planted(text, item.nodeid, None)

    def _randomness(self, test: str, number: int) -> random.Random:
        return random.Random(f"{self.run}/{test}/{number}")  # noqa: S311 — the unpredictable part is the run


@dataclass(slots=True, kw_only=True)
class CanaryOfTest:
    """A canary that fails its test."""

    session: Session
    test: str
    depth: float | None
    lost_fails: bool
    unchecked: bool = field(default=False, init=False)
    """Whether the answer to the last prompt is still to be checked."""
    _canary: Canary | None = field(default=None, init=False)

    def bury(self, prompt: str) -> str:
        """The prompt with a new marker in it, and an ask for it at its end."""
        self._canary = self.session.next_canary(self.test, self.depth)
        self.unchecked = True
        return self._canary.bury(prompt)

    def check(self, answer: str, *, cut: bool = False) -> CanaryResult:
        """Fail the test unless the answer is shown to be one to the last prompt.

        `cut`: the answer ended at its limit of tokens. Then a missing marker says nothing, and skips no test: it warns.

        Raises:
            UsageError: nothing was buried.
        """
        __tracebackhide__ = True
        if self._canary is None:
            raise UsageError("no marker was buried: ask with kv_canary.bury(prompt), then check the answer")
        self.unchecked = False
        result = self._canary.check(answer, cut=cut)
        said = f"kv_canary: {result.verdict}: {result.detail}"
        match result.verdict:
            case CanaryVerdict.CLEAN:
                pass
            case CanaryVerdict.INCONCLUSIVE:
                warnings.warn(said, CanaryWarning, stacklevel=2)
            case CanaryVerdict.LOST if not self.lost_fails:
                warnings.warn(said, CanaryWarning, stacklevel=2)
            case _:
                pytest.fail(said, pytrace=False)
        return result
