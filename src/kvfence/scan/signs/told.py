"""What a log tells of one exchange, as signs look at it, and what a sign says when it sees something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kvfence.scan.exchange import Coverage


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A request that was answered."""

    prompt: str
    prompt_is_whole: bool
    """Whether the log kept all of it: of a prompt that was cut, nothing is said of what does not stand in it."""
    answer: str
    prompt_tokens: int | None
    """As recorded."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One sign in one exchange."""

    strength: float
    """Over 0, in the sign's own unit; `calibration.json` says how often so strong a one was right."""
    evidence: str
    """Redacted already."""


Look = Callable[[Told], Seen | None]
"""A sign: a pure function of one exchange. None where it sees nothing, or the log does not tell enough."""


def told_of(row: Mapping[str, Any]) -> Told:
    """Of a row of `EXCHANGES`."""
    return Told(
        prompt=row["prompt"],
        prompt_is_whole=row["prompt_coverage"] == Coverage.WHOLE,
        answer=row["answer"],
        prompt_tokens=row["prompt_tokens"],
    )
