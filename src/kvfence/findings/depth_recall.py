"""How often the marker of each depth came back, over the answers to prompts of one length. No format lives here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DepthRecall:
    """Counts by depth. Only answers with status 200 count: a refusal or an error says nothing of any depth."""

    came_back: tuple[int, ...] = ()
    """For each depth, from the prompt's start to its end: in how many of the answers its marker was whole."""
    answers: int = 0

    @property
    def shares(self) -> tuple[float, ...]:
        """For each depth, from 0 to 1; empty without an answer."""
        return tuple(count / self.answers for count in self.came_back) if self.answers else ()


NO_ANSWER = DepthRecall()


def added(recalls: Iterable[DepthRecall]) -> DepthRecall:
    """All of them together.

    Raises:
        ValueError: they are of prompts with different numbers of markers.
    """
    answered = [recall for recall in recalls if recall.answers]
    counts = tuple(map(sum, zip(*(recall.came_back for recall in answered), strict=True)))
    return DepthRecall(counts, sum(recall.answers for recall in answered))
