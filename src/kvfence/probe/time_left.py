"""How long what is left will take, by how long what was asked took. Pure.

Two figures are fitted to the rounds that have ended, by least squares: seconds for a request, and seconds for a token.
Neither can be below 0. Prompts that were refused took no time for their tokens. All that a round takes is in it:
counting, waiting for the pace allowed, and whatever else the endpoint was doing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ROUNDS_MIN = 3
"""Fewer say nothing: the first are short, and the endpoint warms up."""


@dataclass(frozen=True, slots=True)
class Load:
    """What one round asks of an endpoint."""

    requests: int
    tokens: int
    """Of prompts that are answered."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A round that has ended."""

    load: Load
    seconds: float


def seconds_left(ended: Sequence[Measured], left: Sequence[Load]) -> float | None:
    """Seconds for the rounds that are left; None where too little has been measured."""
    if len(ended) < ROUNDS_MIN:
        return None
    a_request, a_token = _fitted(ended)
    return a_request * sum(load.requests for load in left) + a_token * sum(load.tokens for load in left)


def _fitted(ended: Sequence[Measured]) -> tuple[float, float]:
    """Seconds for a request and for a token."""
    rr = sum(one.load.requests**2 for one in ended)
    rt = sum(one.load.requests * one.load.tokens for one in ended)
    tt = sum(one.load.tokens**2 for one in ended)
    rs = sum(one.load.requests * one.seconds for one in ended)
    ts = sum(one.load.tokens * one.seconds for one in ended)
    determinant = rr * tt - rt * rt
    if determinant > 0:
        a_request = (rs * tt - ts * rt) / determinant
        a_token = (ts * rr - rs * rt) / determinant
        if a_request >= 0 and a_token >= 0:
            return a_request, a_token
    only_tokens = (0.0, ts / tt) if tt else (rs / rr, 0.0)
    only_requests = (rs / rr, 0.0)
    return min(only_tokens, only_requests, key=lambda rates: _error(ended, *rates))


def _error(ended: Sequence[Measured], a_request: float, a_token: float) -> float:
    return sum((a_request * one.load.requests + a_token * one.load.tokens - one.seconds) ** 2 for one in ended)
