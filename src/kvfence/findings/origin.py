"""Which campaign a marker is of, as a registry of planted markers remembers it. No format lives here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where and when a marker was planted."""

    campaign: str
    """Its id: the same on every machine for the same key, seed, endpoint and model."""
    seed: str
    """As its report has it; empty for an application's own calls."""
    endpoint: str
    """Without a user's name and password; for an application's own calls, the application."""
    model: str
    request: int
    """Its number in the campaign, from 0."""
    planted_s: float | None
    """Seconds since 1970; None where the registry came to know of it later."""

    @property
    def is_of_application(self) -> bool:
        """Whether it was planted in an application's own calls, and by no campaign."""
        return not self.seed

    @property
    def planted_at(self) -> str | None:
        """The same as ISO 8601 in UTC, to the second."""
        return at_utc(self.planted_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerSight:
    """A marker that stands in some text."""

    where: str
    """The file or the words that were searched."""
    line: int
    """From 1: the first line that has it."""
    shown: str
    """Masked."""
    is_whole: bool
    """Or only a piece of it."""
    planted_by: str | None
    """The tenant; None for a marker of kvfence that no registry searched knows."""
    depth: int | None = None
    prompt_tokens: int | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignKept:
    """What a registry holds of one campaign."""

    campaign: str
    seed: str
    endpoint: str
    model: str
    prompts: int
    markers: int
    first_planted_s: float | None
    last_planted_s: float | None


def at_utc(seconds: float | None) -> str | None:
    """Seconds since 1970 as ISO 8601, to the second; None for what is no time."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):  # a damaged file
        return None
