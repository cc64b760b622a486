"""A campaign that remembers what it plants: beside its journal in a registry, and before it is sent.

First the journal, then the registry: what stands in the journal alone was not sent, and the registry gets it when the
campaign goes on, as it gets what an earlier part of the campaign planted without a registry.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.probe.campaign import Campaign
from kvfence.probe.journal import About, Recorder
from kvfence.probe.prompts import markers_of
from kvfence.probe.record import Exchange, History
from kvfence.probe.registry.by_seed import of_this_campaign
from kvfence.probe.registry.planted import KnownCampaign, PlantedPrompt, Registry, Remembered, known_campaign

WHEN_IS_NOT_KNOWN = 0


@dataclass(slots=True)
class _Begun:
    campaign: Campaign
    known: KnownCampaign


class Remembering:
    """A recorder that is a journal, or none, and a registry."""

    def __init__(self, recorder: Recorder, registry: Registry) -> None:
        """Both are open, and stay their owner's."""
        self._recorder = recorder
        self._registry = registry
        self._begun: _Begun | None = None

    def begin(self, about: About) -> list[History]:
        """What the journal has; the registry learns of it as well. Raises `UsageError`, `TargetError`."""
        rounds = self._recorder.begin(about)
        self._begun = begun = _Begun(
            about.campaign, known_campaign(about.campaign.key, about.campaign.seed, about.url, about.model)
        )
        self._registry.begin(begun.known)
        known = self._registry.requests_of(begun.known.id) if rounds else frozenset()
        for exchange in (one for exchanges in rounds for one in exchanges):
            if exchange.recipe.request not in known:
                self._registry.plant(_prompt(exchange, begun, WHEN_IS_NOT_KNOWN))
        return rounds

    def sent(self, round_index: int, exchange: Exchange) -> None:
        """A request is about to be sent. Raises `TargetError` where its markers could not be remembered."""
        self._recorder.sent(round_index, exchange)
        if self._begun is not None:
            self._registry.plant(_prompt(exchange, self._begun, self._registry.now_ms()))

    def ended(self, exchange: Exchange) -> None:
        """It has ended."""
        self._recorder.ended(exchange)

    def whose(self, pieces: frozenset[str]) -> tuple[Remembered, ...]:
        """Markers that anybody ever planted and that have one of these pieces."""
        return self._registry.whose(pieces) if pieces else ()

    def by_seed(self, text: str) -> Remembered | None:
        """A marker that no file has, where this campaign's seed makes it: of an earlier run of it."""
        if self._begun is None:
            return None
        return of_this_campaign(text, self._begun.campaign, self._begun.known)

    def is_this_campaign(self, remembered: Remembered) -> bool:
        """Whether it is of this very campaign, as when the same seed is used again."""
        return self._begun is not None and remembered.origin.campaign == self._begun.known.id


def _prompt(exchange: Exchange, begun: _Begun, planted_ms: int) -> PlantedPrompt:
    recipe = exchange.recipe
    return PlantedPrompt(
        campaign=begun.known.id,
        tenant=recipe.tenant,
        request=recipe.request,
        tokens=exchange.tokens,
        planted_ms=planted_ms,
        markers=tuple(marker.text for marker in markers_of(recipe, begun.campaign.key)),
    )
