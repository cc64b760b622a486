"""What a plan forecasts: the pool of one worker, against the context that is promised. No format lives here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kvfence.findings.verdict import Verdict

HEADROOM = 2
"""A pool of twice the context holds one prompt of full length and still serves others; below that it is tight."""


class Standing(StrEnum):
    """The pool against what it must hold."""

    BELOW = "below"
    """Even the high forecast does not hold it: the incident's starting point."""
    UNSURE = "unsure"
    """What must be held lies between the low and the high forecast."""
    TIGHT = "tight"
    """It fits, with less than `HEADROOM` times as much."""
    FINE = "fine"


_VERDICTS = {
    Standing.BELOW: Verdict.FOUND,
    Standing.UNSURE: Verdict.UNKNOWN,
    Standing.TIGHT: Verdict.CLEAN,
    Standing.FINE: Verdict.CLEAN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A forecast in tokens: not less than `low`, most likely `likely`, not more than `high`."""

    low: int
    likely: int
    high: int

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.likely <= self.high:
            raise ValueError(f"a spread of {self.low}, {self.likely}, {self.high} tokens is out of order")

    def standing(self, needed: int) -> Standing:
        """Where a need of this many tokens stands."""
        if self.high < needed:
            return Standing.BELOW
        if self.low < needed:
            return Standing.UNSURE
        return Standing.TIGHT if self.low < HEADROOM * needed else Standing.FINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one kind of layer costs on one GPU."""

    name: str
    layers: int
    token_bytes: int
    """Of one token in all these layers."""
    request_bytes: int
    """Of one request in all these layers, however long it is."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of one GPU's memory in bytes, and where the figure comes from."""

    name: str
    low: float
    likely: float
    high: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A change that was tried, as flags, and the pool that it gives."""

    what: str
    flags: str
    pool: Spread
    needed: int
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """All of a plan."""

    model: str
    family: str
    engine: str
    setting: str
    """GPU, parallelism, dtype and fraction in one line."""
    costs: tuple[Cost, ...]
    shares: tuple[Share, ...]
    pool: Spread
    context: int
    usable: Spread
    """The longest prompt with one token of answer, as the engine counts it."""
    needed: int
    """Tokens that one pool must hold: the context, or what `--fit` asks of it."""
    requests: int
    """Requests of the context's length that must be held at once, over all pools."""
    pools: int
    """Pools over which they are spread: more than one with data parallelism."""
    promise: int
    """The longest context of which the low forecast holds as many requests, as it is; 0 for none."""
    tried: tuple[Attempt, ...]
    notes: tuple[str, ...]

    @property
    def standing(self) -> Standing:
        """The incident's rule: below, unsure, tight or fine."""
        return self.pool.standing(self.needed)

    @property
    def verdict(self) -> Verdict:
        """Found when it does not fit, unknown when the forecast straddles the need."""
        return _VERDICTS[self.standing]

    @property
    def change(self) -> Attempt | None:
        """The smallest change that was tried and fits."""
        return next((attempt for attempt in self.tried if attempt.fits), None)
