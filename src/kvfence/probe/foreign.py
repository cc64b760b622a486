"""Whose the markers in an answer are that its own prompt did not plant. Pure, but for what a longer memory says.

Three kinds: of this campaign, by what it has planted or its seed makes; of any other, by a registry; and markers that
have kvfence's sign and that nobody here knows. A look-alike without the sign that no registry has is nobody's: a model
made it up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from kvfence.findings.recall import ForeignMarker
from kvfence.findings.redact import masked
from kvfence.probe.markers import Marker, is_ours, markers_in, pieces_in
from kvfence.probe.registry.planted import Remembered

UNKNOWN_CAMPAIGN = "another campaign"
STRAYS_TRIED = 8
"""How many markers of one answer are looked for by seed, some 20 ms each: an endpoint may send any number."""


class LongMemory(Protocol):
    """Who knows markers of other campaigns."""

    def whose(self, pieces: frozenset[str]) -> tuple[Remembered, ...]:
        """The markers that have at least one of these pieces, the latest last."""

    def by_seed(self, text: str) -> Remembered | None:
        """A marker that is remembered nowhere, where this campaign's seed makes it."""

    def is_this_campaign(self, remembered: Remembered) -> bool:
        """Whether it is of this very campaign, as when the same seed is used again."""


class NoMemory:
    """Nobody remembers other campaigns."""

    def whose(self, pieces: frozenset[str]) -> tuple[Remembered, ...]:
        """None."""
        del pieces
        return ()

    def by_seed(self, text: str) -> Remembered | None:
        """There is no seed."""
        del text
        return None

    def is_this_campaign(self, remembered: Remembered) -> bool:
        """There is none to ask about."""
        del remembered
        return False


NO_MEMORY = NoMemory()


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """What an answer has of other prompts' markers."""

    tenant: str
    """Whose answer it is."""
    known: Mapping[str, tuple[Marker, int]]
    """Of this campaign, with the lengths of their prompts."""
    remembered: tuple[Remembered, ...] = ()
    """Of other campaigns, or of this one's tenants in an earlier run of it."""
    own_earlier: frozenset[str] = frozenset()
    """Those of `remembered` that this tenant planted itself, in an earlier run of this campaign."""
    strays: tuple[str, ...] = ()
    """Of campaigns that nobody here knows."""

    @property
    def texts(self) -> frozenset[str]:
        """All of them."""
        return frozenset({*self.known, *self.strays, *(one.text for one in self.remembered)})

    @property
    def is_leak(self) -> bool:
        """Whether one of them is not the asking tenant's own."""
        others = any(marker.place.tenant != self.tenant for marker, _ in self.known.values())
        return others or bool(self.strays) or any(one.text not in self.own_earlier for one in self.remembered)

    @property
    def earlier(self) -> int:
        """How many are of prompts that somebody sent and this answer is not to: where it is no leak, of this tenant."""
        return len(self.known) + len(self.remembered)

    @property
    def evidence(self) -> tuple[ForeignMarker, ...]:
        """All of them, as they may be reported."""
        return (
            *(_of_campaign(*place) for place in self.known.values()),
            *map(_of_memory, self.remembered),
            *map(_of_another, self.strays),
        )


def foreign_in(
    answer: str, own: Iterable[str], known: Mapping[str, tuple[Marker, int]], *, tenant: str, memory: LongMemory
) -> Foreign:
    """Read an answer of `tenant`; `known`: what it has of this campaign's markers, the own ones among them or not."""
    own = tuple(own)
    others = {text: place for text, place in known.items() if text not in own}
    placed = frozenset().union(*(pieces_in(text) for text in (*own, *others)))
    latest = {one.text: one for one in memory.whose(pieces_in(answer) - placed)}
    own_pieces = frozenset().union(*map(pieces_in, own))
    strays = tuple(_strays(answer, own_pieces, frozenset({*own, *others, *latest})))
    latest |= {text: one for text in strays[:STRAYS_TRIED] if (one := memory.by_seed(text))}
    return Foreign(
        tenant=tenant,
        known=others,
        remembered=tuple(latest.values()),
        own_earlier=frozenset(
            text for text, one in latest.items() if one.tenant == tenant and memory.is_this_campaign(one)
        ),
        strays=tuple(text for text in strays if text not in latest),
    )


def _strays(answer: str, own_pieces: frozenset[str], known: frozenset[str]) -> Iterable[str]:
    """Markers that nobody knows. One that shares a piece with an own one is that one with changed characters."""
    for text in dict.fromkeys(markers_in(answer)):
        if text not in known and is_ours(text) and own_pieces.isdisjoint(pieces_in(text)):
            yield text


def _of_campaign(marker: Marker, tokens: int) -> ForeignMarker:
    place = marker.place
    return ForeignMarker(
        planted_by=place.tenant, planted_at_tokens=tokens, depth=place.depth, shown=masked(marker.text)
    )


def _of_memory(one: Remembered) -> ForeignMarker:
    return ForeignMarker(
        planted_by=one.tenant,
        planted_at_tokens=one.tokens,
        depth=one.depth,
        shown=masked(one.text),
        origin=one.origin,
    )


def _of_another(text: str) -> ForeignMarker:
    return ForeignMarker(planted_by=UNKNOWN_CAMPAIGN, planted_at_tokens=None, depth=None, shown=masked(text))
