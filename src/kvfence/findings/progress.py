"""How far a probe is, as it is told while it runs: what is being tried, what it has cost, what has come back."""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.findings.recall import LengthVerdict
from kvfence.findings.spent import Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a campaign may spend; None where nothing was said."""

    tokens: int | None = None
    """Of prompts and answers together."""
    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One moment of a campaign."""

    scenario: str
    """The manner in which is being asked."""
    tokens: int
    """Of the prompt that is being tried."""
    why: str
    """Why this length, or this manner."""
    asked: int
    """Requests that have ended."""
    under_way: int
    foreseen: int
    """Requests in all: those that have ended, and what is left of the plan if nothing more goes wrong."""
    is_all: bool
    """Whether `foreseen` reaches to the end of the plan; else there are more."""
    ends_by: str
    """The limit that will end it before its plan is over; empty for none."""
    spent: Spent
    """Up to now; of what is under way, the most that it can cost."""
    foreseen_tokens: int
    """Tokens in all, like `foreseen`: answers at their longest."""
    foreseen_usd: float | None
    """The same in US dollars; None without prices."""
    budget: Budget
    answers: tuple[tuple[LengthVerdict, int], ...]
    """How often each verdict was given to a single answer, the worst first."""
    seconds: float
    """Since this run began."""
    seconds_left: float | None
    """By what was measured in this run; None while that is too little."""
    of: str = ""
    """Which of several endpoints; empty where there is one."""
