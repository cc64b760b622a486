"""How often a wrong answer has to be seen at one length before chance is no explanation any more. Pure.

A model that recites rightly loses or changes a marker by itself now and then, and the more often a length is asked for,
the more often that is seen. So the number that counts grows with the answers: the fewest wrong ones of so many that a
model with a known rate of them would show in one length of two hundred at most; never fewer than two.
"""

from __future__ import annotations

from functools import cache
from math import exp, lgamma, log, log1p

NOISE = 0.02
"""The share of answers that a model may get wrong by itself: one in fifty. A model that errs more often is called lossy
though its server is right."""
CHANCE = 0.005
"""How often an honest length may be called wrong: over ten lengths, in one campaign of twenty."""
FEWEST = 2
"""One sample is none."""


@cache
def enough(answers: int) -> int:
    """How many of so many answers have to be wrong: the fewest that chance shows less often than `CHANCE`."""
    at_most = 0.0
    for wrong in range(answers + 1):
        logs = (
            lgamma(answers + 1)
            - lgamma(wrong + 1)
            - lgamma(answers - wrong + 1)
            + wrong * log(NOISE)
            + (answers - wrong) * log1p(-NOISE)
        )
        at_most += exp(logs)
        if 1 - at_most <= CHANCE:
            return max(FEWEST, wrong + 1)
    return FEWEST
