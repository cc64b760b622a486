"""The decision, before anything is reserved, that a request fits (I1, I7).

Three answers, since three are true: `Admitted`, `Rejected` (can never fit) and `Wait` (fits, not now). Only `admit`
makes an `Admitted`, and only an `Admitted` can ask the pool for a lease. A refusal is a value of its own with both
figures in it; it shares nothing with a way of ending.

    pool_tokens      what memory was left for, a measurement
    context_tokens   what the model or the operator promises
    reserve_tokens   what the worker keeps back for itself
    usable           min(context, whole pages of the pool - reserve)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import InitVar, dataclass

from kvfence.core.ids import Role
from kvfence.core.invariants import Check, Violation
from kvfence.core.rules import Layer, Rules
from kvfence.core.sizes import pages_ceiling, pages_floor


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What one worker can hold. All in tokens, but `page_size`, which is slots a page."""

    pool_tokens: int
    context_tokens: int
    page_size: int
    reserve_tokens: int = 0

    def __post_init__(self) -> None:
        if self.page_size < 1 or self.reserve_tokens < 0 or self.usable_tokens < 1:
            raise Violation(Check.LIMIT, f"no request can ever fit in {self}")

    @property
    def pool_pages(self) -> int:
        """Whole pages of the pool."""
        return pages_floor(self.pool_tokens, self.page_size)

    @property
    def usable_tokens(self) -> int:
        """The longest request that this worker can hold."""
        return min(self.context_tokens, self.pool_pages * self.page_size - self.reserve_tokens)


def advertised_tokens(path: Iterable[Capacity], rules: Rules) -> int:
    """What `/v1/models` promises: the smallest usable length along the path (I7).

    Without I1 it is the context, as engines have it: `max_model_len` there is a setting, not a measurement.
    """
    if rules.has(Layer.ADMISSION):
        return min(capacity.usable_tokens for capacity in path)
    return min(capacity.context_tokens for capacity in path)


class _Key:
    """Held by this module alone."""


_KEY = _Key()


@dataclass(frozen=True, slots=True)
class Admitted:
    """Proof that a request fits: made by `admit` and nowhere else."""

    tokens: int
    """What will be computed and held: what was asked, or 1 for the placeholder of a `Condemned`."""
    pages: int
    key: InitVar[_Key]

    def __post_init__(self, key: _Key) -> None:
        if key is not _KEY:
            raise Violation(Check.FORGED, "an Admitted is made by admit() only")


@dataclass(frozen=True, slots=True)
class Condemned:
    """A request that was refused and runs all the same, as one token: what engines did before I1.

    It is not an `Admitted` for what was asked; what becomes of what it computes, `Rules.over_long` says.
    """

    placeholder: Admitted
    refusal: Rejected


@dataclass(frozen=True, slots=True)
class Wait:
    """It fits, but not now."""

    pages_missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """It can never fit here. Becomes a 4xx that names both figures."""

    asked_tokens: int
    usable_tokens: int
    gate: Role


def admit(
    asked_tokens: int, capacity: Capacity, free_pages: int, *, gate: Role, rules: Rules
) -> Admitted | Condemned | Wait | Rejected:
    """Decide; nothing is reserved yet.

    `asked_tokens` is what this worker would have to hold: the prompt at prefill, prompt and answer at decode.

    Raises:
        Violation: nothing, or less, was asked for.
    """
    if asked_tokens < 1:
        raise Violation(Check.ADMISSION, f"{asked_tokens} tokens asked")
    if rules.truncates:
        asked_tokens = min(asked_tokens, capacity.usable_tokens)
    if asked_tokens > capacity.usable_tokens:
        refusal = Rejected(asked_tokens=asked_tokens, usable_tokens=capacity.usable_tokens, gate=gate)
        if gate is not Role.PREFILL or rules.has(Layer.ADMISSION):
            return refusal
        if free_pages < 1:
            return Wait(1)
        return Condemned(Admitted(1, 1, _KEY), refusal)
    pages = pages_ceiling(asked_tokens, capacity.page_size)
    return Admitted(asked_tokens, pages, _KEY) if pages <= free_pages else Wait(pages - free_pages)


def fitting(prompt_tokens: int, new_tokens: int, capacity: Capacity, rules: Rules) -> int:
    """The prompt that a role goes on with: as asked; where each truncates on its own, at most what it can hold."""
    return min(prompt_tokens, max(capacity.usable_tokens - new_tokens, 1)) if rules.truncates else prompt_tokens
