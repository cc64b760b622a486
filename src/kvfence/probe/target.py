"""What is probed and within which bounds: values only, parsed once from what the user gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kvfence.errors import UsageError
from kvfence.probe.boundaries import MULTIPLE_NEAR_TOKENS, Boundary
from kvfence.probe.dialects.dialect import Dialect
from kvfence.probe.dialects.openai import CHAT

LONGEST = 2**25
"""Tokens: many times what any model takes; a prompt of it is still built in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """One of the parties; whatever the endpoint tells tenants apart by, they differ in it."""

    name: str
    api_key: str | None = field(default=None, repr=False)
    salt: str
    """Sent as `user` and as `cache_salt`, or what the dialect has instead."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent as well."""
    body: Mapping[str, object] = field(default_factory=dict)
    """Fields of a request's body that are set, whatever the dialect would send."""
    hidden: tuple[str, ...] = field(default=(), repr=False)
    """Values of headers that are secrets, too."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nobody may read in an answer, a report or a journal."""
        return (*([self.api_key] if self.api_key else []), *self.hidden)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint, such as http://127.0.0.1:8000/v1, and how it is spoken to."""

    base_url: str
    model: str | None = None
    declared_context: int | None = None
    """Given by the user where the endpoint does not say it."""
    dialect: Dialect = CHAT
    without: tuple[str, ...] = ()
    """Fields of a request's body that are left out, for an endpoint that refuses them."""
    timeout_s: float = 600.0
    thinking_tokens: int = 0
    """What a model may think before it answers, which counts as a part of its answer."""

    def url(self, path: str) -> str:
        """A path below the base."""
        return f"{self.base_url}/{path}"

    @property
    def shown(self) -> str:
        """The base as it may be printed: without a user's name and password."""
        return _without_user(self.base_url)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of a campaign."""

    limits: tuple[int, ...] = ()
    """Lengths at which something is known or thought to change, such as a pool's size."""
    boundaries: tuple[Boundary, ...] = ()
    """The same, where it is known what they are."""
    known_pool_tokens: int | None = None
    """Size of the largest KV pool on the path, where an audit knows it."""
    multiples: tuple[int, ...] = (MULTIPLE_NEAR_TOKENS,)
    """Sizes of a page or a chunk; the default is a multiple of all usual ones."""
    sweep_factor: int = 4
    """By how much one length of the geometric sweep is shorter than the next; under 2: none but half of the context."""
    lengths: tuple[int, ...] = ()
    """Only these lengths, besides the control; empty for the usual plan."""
    repeats: int = 1
    """How often each length but the control is asked for, where it is not refused: all of them in turn, so often. A
    wrong answer is asked for again in any case, up to twice more."""
    seeds_each: int = 2
    """How many prompts the seeding tenant sends before each harvest."""
    bisections: int = 6
    """How many lengths are asked beyond the plan, to close in on where it turns."""
    requests_max: int = 256
    rounds_each: int = 4
    """How many rounds a scenario beside the sweep sends."""
    concurrency: int = 8
    """How many requests may be under way at once, where a scenario sends several."""

    @property
    def pool_tokens(self) -> int | None:
        """Size of the largest pool as far as is known: else the largest of the limits, which are pools as a rule."""
        return self.known_pool_tokens or max(self.limits, default=None)


def parse_url(text: str) -> str:
    """A base URL without a trailing slash. Raises `UsageError`."""
    shown = _without_user(text)
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"'{shown}' is not a usable URL: {error}; ports are numbers from 1 to 65535") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"'{shown}' is not a URL; give the endpoint's base, such as http://127.0.0.1:8000/v1")
    if parts.query or parts.fragment:
        raise UsageError(f"'{shown.split('?')[0]}' has a query or fragment; give the endpoint's base alone, without it")
    return text.rstrip("/")


def _without_user(url: str) -> str:
    scheme, mark, rest = url.rpartition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{mark}{place.rpartition('@')[2]}{slash}{path}"
