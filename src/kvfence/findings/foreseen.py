"""A probe that has not been run: what it would ask, and what that would take."""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.findings.spent import Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeseenRequest:
    """One request that would be sent."""

    tokens: int
    """Of its prompt."""
    part: str
    why: str
    scenario: str = "sweep"
    """In which manner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """The whole plan, against an endpoint that keeps its word; a leak or an early refusal adds to it."""

    url: str
    model: str
    declared_context: int
    requests: tuple[ForeseenRequest, ...]
    spent: Spent
    """Answers at their longest; a refusal costs nothing."""
    seconds: float
    """One after the other, at the speeds assumed, or at the pace allowed where that is slower."""
    speeds: str
    """What is assumed, in words."""
    longer_than_asked: str = ""
    """What is asked in place of lengths that are shorter than any prompt with its markers; empty for none."""
    stopped_by: str
    """The limit that would end it before it is over; empty for none."""
