"""Whose a marker is that no file has, by the seed and the key of a campaign that is known: pure.

A registry may be without a prompt: it was copied in the middle of the campaign, or part of the campaign ran without it.
A marker has a MAC of its place (`markers.py`). What the MAC lets through is made again from the seed and compared, so
that no other campaign's marker is taken for this one's.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product, starmap

from kvfence.findings.origin import Origin
from kvfence.probe.campaign import Campaign
from kvfence.probe.markers import Place, places_of
from kvfence.probe.options import key_of
from kvfence.probe.prompts import DEPTHS, Recipe, markers_of
from kvfence.probe.registry.planted import KnownCampaign, Remembered, known_campaign

REQUESTS_TRIED = 256
"""As many as a campaign has at most if nothing else is said; some 20 ms for two tenants and five depths."""
TENANTS = ("tenant-a", "tenant-b")
"""Of a campaign of which only the seed is known."""


def place_by_seed(text: str, *, seed: int, key: bytes, tenants: Iterable[str], depths: int) -> Place | None:
    """Where the campaign with this seed and key would have planted `text`; None where it would not."""
    tried = starmap(Place, product(dict.fromkeys(tenants), range(REQUESTS_TRIED), range(1, depths + 1)))
    for place in places_of(text, key, tried):
        recipe = Recipe(seed=seed, tenant=place.tenant, request=place.request, filler_chars=0, depths=place.depth)
        if markers_of(recipe, key)[-1].text == text:
            return place
    return None


def of_this_campaign(text: str, campaign: Campaign, known: KnownCampaign) -> Remembered | None:
    """The marker as this campaign's own, planted when it ran before; None where it is not."""
    tenants = (campaign.harvester, *campaign.seeders)
    place = place_by_seed(text, seed=campaign.seed, key=campaign.key, tenants=tenants, depths=campaign.depths)
    return _remembered(text, place, known) if place else None


def of_one_of(text: str, campaigns: Iterable[KnownCampaign]) -> Remembered | None:
    """The marker as one of these campaigns', where their keys follow from their seeds; None where it is of none."""
    for known in campaigns:
        if not known.seed.isdecimal():
            continue
        seed = int(known.seed)
        key = key_of(seed)
        place = place_by_seed(text, seed=seed, key=key, tenants=TENANTS, depths=DEPTHS)
        if place and known_campaign(key, seed, known.url, known.model).id == known.id:
            return _remembered(text, place, known)
    return None


def _remembered(text: str, place: Place, known: KnownCampaign) -> Remembered:
    origin = Origin(
        campaign=known.id,
        seed=known.seed,
        endpoint=known.url,
        model=known.model,
        request=place.request,
        planted_s=None,
    )
    return Remembered(text=text, tenant=place.tenant, depth=place.depth, tokens=0, origin=origin)
