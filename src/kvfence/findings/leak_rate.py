"""How often answers may leak, from how many did: an upper bound, and how many trials a wanted bound needs. Pure.

One-sided. 0 of n gives the rule of three, 3/n at 95 % (Hanley and Lippman-Hand, JAMA 249, 1983), which is never below
the exact bound; else Clopper and Pearson's exact bound (Biometrika 26, 1934): the rate at which so few leaks or fewer
would be seen in one case of twenty. Both suppose that each answer leaks with the same chance, independent of the
others: true of a race in long requests, not of a length beyond a pool, where all answers leak or none does.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, lgamma, log, log1p

CONFIDENCE = 0.95
_BISECTIONS = 60
"""Halvings of an interval of width 1: what is left is below what a float of such a size can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakRate:
    """Leaks among the answers that could have shown one."""

    seen: int
    trials: int
    """Answers that recited markers, anybody's, when another tenant had planted some before."""
    confidence: float = CONFIDENCE

    @property
    def upper_bound(self) -> float:
        """The largest rate that what was seen speaks for, from 0 to 1; 1 without a trial."""
        return upper_bound(self.seen, self.trials, self.confidence)


def upper_bound(seen: int, trials: int, confidence: float = CONFIDENCE) -> float:
    """The rate above which `seen` of `trials`, or fewer, would have a chance of less than 1 - `confidence`.

    Raises:
        ValueError: more was seen than tried, or the confidence is none.
    """
    if not (0 <= seen <= trials and 0 < confidence < 1):
        raise ValueError(f"{seen} of {trials} at a confidence of {confidence}")
    if seen == trials:
        return 1.0  # also 0 of 0
    chance = 1 - confidence
    if seen == 0:
        return min(1.0, -log(chance) / trials)
    low, high = seen / trials, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(seen, trials, middle) > chance else (low, middle)
    return high


def trials_needed(bound: float, seen: int = 0, confidence: float = CONFIDENCE) -> int:
    """The fewest trials in which `seen` leaks leave an upper bound of `bound` or less.

    Raises:
        ValueError: the bound is not between 0 and 1.
    """
    if not 0 < bound < 1:
        raise ValueError(f"a rate to stay below is between 0 and 1, not {bound}")
    if seen == 0:
        return ceil(-log(1 - confidence) / bound)
    too_few, enough = seen, seen + 1
    while upper_bound(seen, enough, confidence) > bound:
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if upper_bound(seen, middle, confidence) <= bound else (middle, enough)
    return enough


def _at_most(seen: int, trials: int, rate: float) -> float:
    """The chance of `seen` leaks or fewer, at a rate above 0; in logarithms, for trials may be a million."""
    if rate >= 1:
        return 0.0
    logs = (
        lgamma(trials + 1)
        - lgamma(count + 1)
        - lgamma(trials - count + 1)
        + count * log(rate)
        + (trials - count) * log1p(-rate)
        for count in range(seen + 1)
    )
    return sum(exp(each) for each in logs)
