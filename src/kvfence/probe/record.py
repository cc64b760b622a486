"""The history of a campaign: what was asked, what came back. Recorded first, judged after: it can be judged again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kvfence.probe.prompts import Recipe

Part = Literal["seed", "harvest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request that a campaign wants to make."""

    part: Part
    tokens: int
    """Prompt tokens that are aimed at."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request that was made."""

    step: Step
    recipe: Recipe
    tokens: int
    """Prompt tokens as the endpoint counts them, or as near as could be told."""
    status: int | None
    exact: bool = True
    """Whether `tokens` is a count, or an estimate."""
    answer: str = field(default="", repr=False)
    detail: str = ""
    """The endpoint's own error message, or what went wrong on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What does not change during a campaign."""

    seed: int
    key: bytes = field(repr=False)
    declared_context: int
    answer_tokens: int


History = tuple[Exchange, ...]
