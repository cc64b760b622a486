"""What prefill attests about a room's pages, and how it is held against what decode expects (I2).

"As many pages received as were reserved, as many tokens as were offered, the same room and epochs, and digests of
what is in the pool now equal to the manifest's." A manifest whose page count contradicts its token count cannot be
made.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.core.ids import Digest, RoomId, TenantId
from kvfence.core.invariants import Check, Mismatch, Violation
from kvfence.core.lease import Leases
from kvfence.core.sizes import pages_ceiling


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Bound to one room, its tenant and the leases that its pages lie under.

    `leases` are decode's own on a pushing wire (echoed from its reservation) and prefill's on a pulling one.
    `digests` is one a page, or None where prefill does not digest (the layer is off).
    """

    leases: Leases
    tokens: int
    page_size: int
    layout: str
    """Fingerprint of dtype, row and page shape: equal bytes of another layout are other keys and values."""
    digests: tuple[Digest, ...] | None
    cached_tokens: int = 0
    """How many of `tokens` prefill reused from the same tenant; for the usage figures only."""

    def __post_init__(self) -> None:
        if self.page_size < 1:
            raise Violation(Check.COUNT, f"{self.page_size} slots a page")
        pages = pages_ceiling(self.tokens, self.page_size)
        if self.tokens < 1 or len(self.leases) != pages:
            raise Violation(Check.COUNT, f"{self.tokens} tokens lie in {pages} pages, not {len(self.leases)}")
        if self.digests is not None and len(self.digests) != pages:
            raise Violation(Check.DIGEST, f"{len(self.digests)} digests for {pages} pages")

    @property
    def room(self) -> RoomId:
        """The room it is bound to."""
        return self.leases.room

    @property
    def tenant(self) -> TenantId:
        """The tenant it is bound to."""
        return self.leases.tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What decode reserved, before any of it came."""

    leases: Leases
    """Of the prompt's pages only, in page-table order."""
    prompt_tokens: int
    layout: str
    leases_are_echoed: bool
    """True on a pushing wire: the manifest must name these very leases."""


def compare_counts(manifest: Manifest, expected: Expectation) -> Mismatch | None:
    """I2, first half: room, tenant, layout, tokens, pages and, where echoed, epochs."""
    facts = (
        (Check.BINDING, "room", expected.leases.room, manifest.room),
        (Check.BINDING, "tenant", expected.leases.tenant, manifest.tenant),
        (Check.BINDING, "layout", expected.layout, manifest.layout),
        (Check.COUNT, "tokens", expected.prompt_tokens, manifest.tokens),
        (Check.COUNT, "pages", len(expected.leases), len(manifest.leases)),
    )
    for check, what, want, got in facts:
        if want != got:
            hidden = what == "tenant"
            return Mismatch(
                check, f"{what} of this room" if hidden else f"{what} {want}", "other" if hidden else str(got)
            )
    if expected.leases_are_echoed and manifest.leases != expected.leases:
        return Mismatch(Check.BINDING, "the epochs reserved", "other pages or epochs")
    return None


def compare_digests(manifest: Manifest, in_pool_now: tuple[Digest, ...]) -> Mismatch | None:
    """I2, second half: what lies in the reserved pages now is what prefill attested.

    `in_pool_now` has one digest for each page that was *reserved*; pages that prefill never attested differ.
    """
    if manifest.digests is None:
        return Mismatch(Check.DIGEST, "a digest for each page", "a manifest without digests")
    differing = [page for page, (a, b) in enumerate(zip(manifest.digests, in_pool_now, strict=False)) if a != b]
    unattested = len(in_pool_now) - len(manifest.digests)
    if differing or unattested:
        got = f"{len(differing)} that differ (first: page {differing[0]})" if differing else f"{unattested} unattested"
        return Mismatch(Check.DIGEST, f"{len(in_pool_now)} attested pages", got)
    return None
