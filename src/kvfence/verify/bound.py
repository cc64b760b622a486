"""How much of a world is explored: its size, what clients ask for, and how often each fault may happen.

A bound is what makes the space finite, and so what a result of "complete" is about. It is printed with every result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Budget(NamedTuple):
    """How often each of these may still happen. Part of a state."""

    requests: int
    hang_ups: int = 0
    """A client aborts."""
    time_outs: int = 0
    """A lease or the wait for a handoff runs out, at whatever moment: nothing here knows how long anything takes."""
    duplicates: int = 0
    """A control message arrives once more."""
    drops: int = 0
    """A control message is lost, and nobody is told."""
    crashes: int = 0
    """A worker dies with its memory; it may come back with none."""
    faults: int = 0
    """All of the above but requests, together."""

    @property
    def in_words(self) -> str:
        """Which faults may happen, and how many of them."""
        kinds = {
            "hang-ups": self.hang_ups,
            "time-outs": self.time_outs,
            "duplicates": self.duplicates,
            "drops": self.drops,
            "crashes": self.crashes,
        }
        which = ", ".join(kind for kind, most in kinds.items() if most)
        return f"up to {self.faults} of {which}" if self.faults and which else "no fault"


def spent(left: Budget, what: str) -> Budget:
    """`left` after one more `what`, a fault by its field's name."""
    return left._replace(**{what: getattr(left, what) - 1, "faults": left.faults - 1})


@dataclass(frozen=True, slots=True)
class Shape:
    """What a client may ask for."""

    prompt_tokens: int
    new_tokens: int = 1
    story: int | None = None
    """Requests with the same story have the same prompt, whoever asks, and so the same prefix keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One size of the world. Slots and tokens are one: a token takes a slot."""

    name: str
    budget: Budget
    shapes: tuple[Shape, ...]
    tenants: int = 2
    page_size: int = 2
    prefill_pages: int = 2
    decode_pages: int = 3
    context_tokens: int = 8
    """What engines without I7 advertise: longer than prefill can hold."""
    states_max: int = 2_000_000
    """Where the search gives up: then it says so, and concludes nothing."""

    @property
    def in_words(self) -> str:
        """The world's size."""
        prompts = ", ".join(str(shape.prompt_tokens) for shape in self.shapes)
        return (
            f"{self.tenants} tenants, {self.budget.requests} requests with prompts of {prompts} tokens; prefill has "
            f"{self.prefill_pages} pages and decode {self.decode_pages}, of {self.page_size} tokens"
        )

    def __post_init__(self) -> None:
        if self.budget.requests < 1 or not self.shapes or self.tenants < 1:
            raise ValueError(f"bound {self.name!r} lets nobody ask for anything")


ONE_PAGE = Shape(prompt_tokens=1)
TWO_PAGES = Shape(prompt_tokens=3)
TOO_LONG = Shape(prompt_tokens=5)
"""Decode can hold it; prefill, with two pages of two slots, cannot."""

SMALL = Bound(
    name="small",
    budget=Budget(requests=2, hang_ups=1, time_outs=1, duplicates=1, faults=1),
    shapes=(TWO_PAGES, TOO_LONG),
    decode_pages=4,
)
DEFAULT = Bound(
    name="default",
    budget=Budget(requests=2, hang_ups=1, time_outs=1, duplicates=1, drops=1, crashes=1, faults=2),
    shapes=(ONE_PAGE, TWO_PAGES, TOO_LONG),
    states_max=5_000_000,
)
LARGE = Bound(
    name="large",
    budget=Budget(requests=3, hang_ups=2, time_outs=2, duplicates=1, drops=1, crashes=1, faults=2),
    shapes=(ONE_PAGE, TWO_PAGES, TOO_LONG),
    decode_pages=4,
    states_max=50_000_000,
)
BOUNDS = {bound.name: bound for bound in (SMALL, DEFAULT, LARGE)}
