"""One endpoint to probe, from the command line's options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kvfence.cli.probe_providers import tenants_from
from kvfence.errors import UsageError
from kvfence.probe.dialects.openai import CHAT, COMPLETIONS
from kvfence.probe.limits import Limits
from kvfence.probe.options import Options, key_of, tenant_of
from kvfence.probe.providers.comparing import ForEach
from kvfence.probe.target import Target, parse_url


@dataclass(frozen=True, slots=True, kw_only=True)
class OneEndpoint:
    """What is said of an endpoint beside what is asked of it."""

    url: str
    model: str | None
    context: int | None
    completions: bool
    limits: Limits

    def options(
        self, each: ForEach, keys: tuple[str | None, str | None], tenants: Path | None, *, seed: int
    ) -> Options:
        """The campaign over it, with two tenants by their keys, or with those of a file. Raises `UsageError`."""
        dialect = COMPLETIONS if self.completions else CHAT
        parties = [tenant_of(letter, key, seed) for letter, key in zip("ab", keys, strict=True)]
        if tenants is not None:
            parties = [party.tenant(seed) for party in tenants_from(tenants, dialect, keys[0])]
        return Options(
            target=Target(
                base_url=parse_url(self.url),
                model=self.model,
                declared_context=self.context,
                dialect=dialect,
                timeout_s=each.timeout_s,
            ),
            seeders=tuple(parties[:-1]),
            harvester=parties[-1],
            bounds=each.bounds,
            seed=seed,
            depths=each.depths,
            scenarios=each.scenarios,
            limits=self.limits,
            counter=each.counter,
            key=key_of(seed),
            registry=each.registry,
        )


def needed_url(url: str | None) -> str:
    """The URL. Raises `UsageError` where there is none."""
    if url is None:
        raise UsageError("give the URL of an endpoint, or --providers with a file of several")
    return url
