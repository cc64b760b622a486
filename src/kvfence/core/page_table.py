"""Sealing, and the page table that can be built from nothing else (I2, I5).

A buffer bleed is a buffer that was not filled to its length, read to its length. The incident was one: eight pages
reserved, one filled, eight read. So the length that a reader gets is carried by the seal, which knows what was
filled; and there is no other way to a `PageTable`.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass

from kvfence.core.ids import Digest, PageId
from kvfence.core.invariants import Check, Mismatch, Violation
from kvfence.core.lease import Filling, Leases, PageState, Sealed
from kvfence.core.manifest import Expectation, Manifest, compare_counts, compare_digests
from kvfence.core.pool import Pool
from kvfence.core.rules import Layer, Rules


class _Key:
    """Held by this module alone."""


_KEY = _Key()


@dataclass(frozen=True, slots=True)
class Seal:
    """Proof that a room's prompt pages passed every check that its rules ask for."""

    leases: Leases
    readable_tokens: int
    """Slots that may be attended to, from the first page on."""
    checks: frozenset[Layer]
    """Which layers of I2 were really checked; empty under the historical rules."""
    key: InitVar[_Key]

    def __post_init__(self, key: _Key) -> None:
        if key is not _KEY:
            raise Violation(Check.FORGED, "a Seal is made by seal() only")


@dataclass(frozen=True, slots=True)
class PageTable:
    """A request's pages in order. `pages` holds `prompt_tokens` and room for the answer behind them."""

    pages: tuple[PageId, ...]
    readable_tokens: int
    key: InitVar[_Key]

    def __post_init__(self, key: _Key) -> None:
        if key is not _KEY:
            raise Violation(Check.FORGED, "a PageTable is made by page_table() only")


def seal(
    manifest: Manifest, expected: Expectation, in_pool_now: tuple[Digest, ...] | None, rules: Rules
) -> Seal | Mismatch:
    """Check what arrived against what was reserved, as far as the rules ask.

    Where I5 is on, only slots that prefill says it filled are readable; where it is off, the length is what the
    router said, as engines have it.
    """
    checks = frozenset({Layer.COUNT, Layer.DIGEST} & rules.layers)
    wrong = compare_counts(manifest, expected) if Layer.COUNT in checks else None
    if wrong is None and Layer.DIGEST in checks:
        wrong = compare_digests(manifest, in_pool_now or ())
    if wrong is not None:
        return wrong
    filled = min(manifest.tokens, expected.prompt_tokens)
    readable = filled if rules.has(Layer.CLEAN_PAGES) else expected.prompt_tokens
    return Seal(expected.leases, readable, checks, _KEY)


def page_table(sealed: Seal, own: Leases, pool: Pool) -> PageTable:
    """The sealed pages, then this worker's own for the tokens to come, as `pool` has both now.

    A seal outlives the right that it was made for; the pool says whether that right is over.
    """
    ours = sealed.leases
    if (ours.room, ours.tenant) != (own.room, own.tenant):
        raise Violation(Check.BINDING, f"pages of room {own.room} behind a seal of room {ours.room}, or another tenant")
    if not (pool.holds(ours) and all(_is_sealed(pool.states[page], ours) for page in ours.pages)):
        raise Violation(Check.BINDING, f"the pages of room {ours.room} are not, or no longer, sealed for it")
    if not (pool.holds(own) and all(_is_filling(pool.states[page], own) for page in own.pages)):
        raise Violation(Check.BINDING, f"the answer's pages of room {own.room} are not its own to fill")
    return PageTable(sealed.leases.pages + own.pages, sealed.readable_tokens, _KEY)


def _is_sealed(state: PageState, by: Leases) -> bool:
    return isinstance(state, Sealed) and state.tenant == by.tenant


def _is_filling(state: PageState, by: Leases) -> bool:
    return isinstance(state, Filling) and state.room == by.room
