"""What one canary found out: a marker in one's own prompt, and what came back of it. No format lives here."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

ELSEWHERE = "outside this process"
"""Who planted a marker that is one of kvfence and that nobody here remembers."""


class CanaryVerdict(StrEnum):
    """What one answer shows. The worst that is known wins."""

    CLEAN = "clean"
    """The marker of the prompt came back, and nobody else's."""
    LEAK = "leak"
    """A marker came back that stands in another prompt. It beats all else."""
    GARBLED = "garbled"
    """Parts of the marker came back, or one that nobody ever planted."""
    LOST = "lost"
    """Nothing of the marker came back: the server lost it, or the model did not do as it was asked."""
    INCONCLUSIVE = "inconclusive"
    """The answer ended before the marker could come, at its limit or because the caller stopped reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCanary:
    """A marker of another prompt in an answer: whose it is, and a masked sight of it."""

    planted_by: str
    planted_s: float | None
    """When, in seconds since 1970; None where nobody remembers."""
    shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryResult:
    """One answer, judged."""

    verdict: CanaryVerdict
    answer: str = field(repr=False)
    """Without the marker and the sentence that carries it."""
    shown: str
    """A masked sight of the marker that was asked for; empty where none was planted."""
    foreign: tuple[ForeignCanary, ...] = ()
    detail: str
    """One sentence. No text of anybody."""

    @property
    def ok(self) -> bool:
        """Whether the answer is shown to be one to this prompt."""
        return self.verdict is CanaryVerdict.CLEAN
