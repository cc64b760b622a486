"""What a condition says of a request that was refused, as far as the code shows.

`Truth` is four-valued on purpose: a condition that has nothing to do with the question lets both branches run; one that
asks it, but only under a setting, lets nothing be said.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Truth(Enum):
    """Of a condition, for a request of the kind that is asked about."""

    YES = "yes"
    NO = "no"
    EITHER = "either"
    """It asks something else."""
    DOUBTFUL = "doubtful"
    """It asks, and the answer hangs on something that the code does not show."""

    @property
    def opposite(self) -> Truth:
        """Of `not` this."""
        return {Truth.YES: Truth.NO, Truth.NO: Truth.YES}.get(self, self)


def all_of(parts: Iterable[tuple[Truth, bool]]) -> Truth:
    """`and`: of each part its truth, and whether what it asks is the request's own state.

    A gate may be narrowed by the request's own state (already admitted, holds pages): what was just refused has none.
    One that is narrowed by a setting is doubtful.
    """
    seen = list(parts)
    truths = {truth for truth, _own in seen}
    if Truth.NO in truths:
        return Truth.NO
    if Truth.DOUBTFUL in truths:
        return Truth.DOUBTFUL
    if Truth.YES not in truths:
        return Truth.EITHER
    return Truth.YES if all(own for truth, own in seen if truth is Truth.EITHER) else Truth.DOUBTFUL


def any_of(truths: Iterable[Truth]) -> Truth:
    """`or`."""
    seen = set(truths)
    for truth in (Truth.YES, Truth.DOUBTFUL, Truth.EITHER):
        if truth in seen:
            return truth
    return Truth.NO


def returned(truths: Iterable[Truth], *, asked: bool) -> Truth:
    """What a call answers, by what its paths return; `asked`: the question came up inside it."""
    seen = set(truths)
    if len(seen) == 1:
        return seen.pop()
    if not asked:
        return Truth.EITHER
    return Truth.DOUBTFUL
