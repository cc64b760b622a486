"""All that a probe is given, and the campaign that follows from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kvfence.errors import UsageError
from kvfence.probe.campaign import Campaign
from kvfence.probe.counting import Counter
from kvfence.probe.limits import UNLIMITED, Limits, Share
from kvfence.probe.patience import PATIENCE, Patience
from kvfence.probe.prompts import DEPTHS, answer_tokens, fixed_chars
from kvfence.probe.record import Scenario
from kvfence.probe.registry.planted import NO_REGISTRY, Registry
from kvfence.probe.target import Bounds, Target, Tenant

SHORTEST_CONTEXT = 1024
"""Below this there is no room for a few markers, an ask and an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All that a probe is given. Chance comes in as `seed` and `key`."""

    target: Target
    seeders: tuple[Tenant, ...]
    """Fill the cache, in turn."""
    harvester: Tenant
    bounds: Bounds = field(default_factory=Bounds)
    seed: int
    key: bytes = field(repr=False)
    depths: int = DEPTHS
    """How many markers each prompt carries."""
    counter: Counter | None = None
    """Who counts tokens; None: the endpoint, where it does."""
    scenarios: tuple[Scenario, ...] = (Scenario.SWEEP,)
    limits: Limits = UNLIMITED
    patience: Patience = PATIENCE
    share: Share | None = None
    """Of what several campaigns may spend together."""
    registry: Registry = field(default=NO_REGISTRY, repr=False)
    """What remembers the markers of this campaign, and of all others."""
    clock: Callable[[], float] = time.monotonic

    def tenant(self, name: str) -> Tenant:
        """The tenant of that name."""
        return next(tenant for tenant in (*self.seeders, self.harvester) if tenant.name == name)


def campaign_of(options: Options, declared: int | None) -> Campaign:
    """The campaign over a declared context. Raises `UsageError` where that is not known, or too short."""
    if declared is None:
        raise UsageError(
            f"{options.target.shown}: how long a context it has is not known, since its /models does not say it or, "
            "with --dry-run, is not asked; give --context N, in tokens, or context in a file of providers"
        )
    thinking = options.target.thinking_tokens
    needed = max(SHORTEST_CONTEXT, fixed_chars(options.depths) + answer_tokens(options.depths)) + thinking
    if declared < needed:
        raise UsageError(
            f"a context of {declared} tokens is too short to probe with {options.depths} markers; {needed} are needed"
        )
    return Campaign(
        seed=options.seed,
        key=options.key,
        declared_context=declared,
        depths=options.depths,
        thinking_tokens=thinking,
        seeders=tuple(tenant.name for tenant in options.seeders),
        harvester=options.harvester.name,
        scenarios=options.scenarios,
    )


def with_requests(limits: Limits, bounds: Bounds) -> Limits:
    """The limits with the bound on requests, which retries count against too."""
    return replace(limits, requests=limits.requests or bounds.requests_max)


def tenant_of(letter: str, api_key: str | None, seed: int) -> Tenant:
    """One of a campaign's tenants; what tells it apart is new with each seed, so that no cache knows it yet."""
    return Tenant(name=f"tenant-{letter}", api_key=api_key, salt=salt_of(letter, seed))


def salt_of(name: str, seed: int) -> str:
    """What an endpoint tells a tenant apart by, where it heeds it."""
    return f"kvfence-{name}-{seed:x}"


def key_of(seed: int) -> bytes:
    """The key of a campaign's markers, so that whoever knows its seed can say who planted one."""
    return f"kvfence campaign {seed}".encode()
