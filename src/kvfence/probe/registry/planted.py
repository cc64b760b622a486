"""What a registry holds, as values: campaigns, the prompts that they sent, and the markers in them.

An id follows from content alone. So the same prompt has the same id on every machine, two registries are merged by
taking the rows of both, and no order of merging makes a difference.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

from kvfence.findings.origin import Origin

_ID_BITS = 63
"""What SQLite holds as a whole number above 0. Of ten million prompts two share an id with p = 5e-6."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCampaign:
    """Which campaign: all of it that an attribution needs, and nothing that another marker could be made with."""

    id: str
    seed: str
    """Kept as text, since it has no bounds; empty for an application's own calls."""
    url: str
    """As it may be printed; for an application's own calls, the application."""
    model: str


def known_campaign(key: bytes, seed: int, url: str, model: str) -> KnownCampaign:
    """A campaign as a registry knows it. The key goes into its id only, through a hash that nobody turns round."""
    url, model = storable(url), storable(model)
    return KnownCampaign(
        id=_id_of(("kvfence campaign 1", key.hex(), str(seed), url, model)), seed=str(seed), url=url, model=model
    )


def known_application(name: str) -> KnownCampaign:
    """An application whose own calls carry markers, as a registry knows it: like a campaign without a seed."""
    name = storable(name)
    return KnownCampaign(id=_id_of(("kvfence application 1", name)), seed="", url=name, model="")


def _id_of(facts: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def storable(text: str) -> str:
    """The text as UTF-8 has it: what an endpoint names itself may be half a character."""
    return text.encode(errors="backslashreplace").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedPrompt:
    """One prompt that was sent, or was about to be."""

    campaign: str
    """The id."""
    tenant: str
    request: int
    tokens: int
    """0 where it is not known."""
    planted_ms: int
    """Milliseconds since 1970; 0 where it is not known."""
    markers: tuple[str, ...]
    """In the order of their depths."""

    @property
    def id(self) -> int:
        """The same for the same content, whoever computes it."""
        facts = (self.campaign, self.tenant, self.request, self.tokens, self.planted_ms, *self.markers)
        digest = hashlib.sha256("\n".join(map(repr, facts)).encode()).digest()
        return int.from_bytes(digest[:8], "big") >> (64 - _ID_BITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A marker that a registry knows."""

    text: str
    tenant: str
    depth: int
    tokens: int
    """Of the prompt that carried it."""
    origin: Origin


class Registry(Protocol):
    """A memory of planted markers that outlives a campaign."""

    def begin(self, campaign: KnownCampaign) -> None:
        """A campaign begins, or goes on."""

    def plant(self, prompt: PlantedPrompt) -> None:
        """Remember a prompt's markers, before it is sent. Raises `TargetError` where that cannot be done."""

    def requests_of(self, campaign: str) -> frozenset[int]:
        """The numbers of the requests that are known of a campaign."""

    def whose(self, pieces: frozenset[str]) -> tuple[Remembered, ...]:
        """The markers that have at least one of these pieces (`markers.pieces_in`), each once, the latest last."""

    def now_ms(self) -> int:
        """The time that is noted for what is planted now."""


class NoRegistry:
    """Nothing outlives the campaign."""

    def begin(self, campaign: KnownCampaign) -> None:
        """Not written down."""

    def plant(self, prompt: PlantedPrompt) -> None:
        """Not written down."""

    def requests_of(self, campaign: str) -> frozenset[int]:
        """None are known."""
        del campaign
        return frozenset()

    def whose(self, pieces: frozenset[str]) -> tuple[Remembered, ...]:
        """Nobody's."""
        del pieces
        return ()

    def now_ms(self) -> int:
        """No time is noted."""
        return 0


NO_REGISTRY = NoRegistry()
