"""A campaign from Python: an address and a few words instead of `Options`."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from kvfence.errors import UsageError
from kvfence.findings.recall import ProbeResult
from kvfence.probe.boundaries import MULTIPLE_NEAR_TOKENS
from kvfence.probe.chosen import scenarios_of
from kvfence.probe.course import Watcher
from kvfence.probe.dialects.openai import CHAT, COMPLETIONS
from kvfence.probe.drive import probe
from kvfence.probe.facts_file import KnownLengths, read_facts
from kvfence.probe.journal import Journal, NoJournal, Recorder, seed_of
from kvfence.probe.limits import Limits, Prices
from kvfence.probe.options import Options, key_of, tenant_of
from kvfence.probe.prompts import DEPTHS, DEPTHS_MAX
from kvfence.probe.registry.planted import NO_REGISTRY
from kvfence.probe.registry.registry_file import RegistryFile
from kvfence.probe.target import LONGEST, Bounds, Target, Tenant, parse_url
from kvfence.probe.tokenizer_file import tokenizer_of

__all__ = ["Bounds", "Options", "ProbeResult", "Settings", "Target", "Tenant", "run", "run_async"]

TENANTS = 2
_RANGES = {
    "context": (1, LONGEST),
    "limits": (1, LONGEST),
    "multiples": (1, LONGEST),
    "lengths": (1, LONGEST),
    "repeats": (1, 100_000),
    "bisections": (0, 1024),
    "depths": (1, DEPTHS_MAX),
    "max_requests": (2, 2**53),
    "concurrency": (1, 1024),
    "budget_tokens": (1, 2**53),
}
"""Settings that are whole numbers, or tuples of them."""


class Settings(TypedDict, total=False):
    """What `run` takes beside the address; the same as the options of `kvfence probe`, and unsaid ones are as there."""

    model: str
    context: int
    """Declared context in tokens, where the endpoint does not list it."""
    api_keys: tuple[str, ...]
    """None, one for both tenants, or one for each: seeding, then harvesting."""
    limits: tuple[int, ...]
    """Lengths in tokens where something may change, such as a pool's size."""
    multiples: tuple[int, ...]
    """Sizes in tokens of a page or a chunk."""
    facts: Path
    """What `kvfence audit --format json` wrote: its pools, limits and pages are asked around."""
    scenarios: tuple[str, ...]
    """Manners of asking after the sweep, by name, or "all"."""
    lengths: tuple[int, ...]
    """Only these lengths in tokens, beside the control."""
    repeats: int
    bisections: int
    depths: int
    """How many markers each prompt carries."""
    max_requests: int
    concurrency: int
    budget_tokens: int
    budget_usd: float
    """Only with `prices`."""
    prices: Prices
    max_rps: float
    tokenizer: Path
    """A tokenizer.json to count prompts with, where the endpoint does not."""
    completions: bool
    timeout_s: float
    seed: int
    journal: Path
    registry: Path
    """Remembers every marker before it is sent, and knows those of other campaigns."""


def run(
    target: str | Options,
    watch: Watcher | None = None,
    recorder: Recorder | None = None,
    **settings: Unpack[Settings],
) -> ProbeResult:
    """Probe an endpoint: does it answer with my text, and only mine, at every length that it claims?

    Args:
        target: base of an OpenAI-compatible API, such as http://127.0.0.1:8000/v1; or `Options`, and no settings.
        watch: told whenever a request begins or ends, how far the campaign is.
        recorder: keeps the campaign, so that it can go on from where it was cut off.
        settings: see `Settings`.

    Raises:
        TargetError: it cannot be reached or is no such endpoint.
        UsageError: a setting cannot be what it is, or the recorder's campaign is another one.
    """
    return asyncio.run(run_async(target, watch, recorder, **settings))


async def run_async(
    target: str | Options,
    watch: Watcher | None = None,
    recorder: Recorder | None = None,
    **settings: Unpack[Settings],
) -> ProbeResult:
    """`run`, for a caller who has an event loop."""
    kept = recorder or _journal(settings)
    if isinstance(target, str):
        options = options_for(target, seed_of(settings.get("seed"), kept), settings)
        file = settings.get("registry")
        with RegistryFile(file) if file is not None else nullcontext(NO_REGISTRY) as registry:
            return await probe(replace(options, registry=registry), watch, kept)
    if settings:
        raise UsageError(f"{', '.join(settings)}: Options say all; settings go with an address")
    return await probe(target, watch, kept)


def options_for(url: str, seed: int, settings: Settings) -> Options:
    """The options of a campaign. Raises `UsageError` for a setting that cannot be what it is."""
    if unknown := settings.keys() - Settings.__annotations__.keys():
        raise UsageError(
            f"{', '.join(sorted(unknown))}: no such setting; there are {', '.join(Settings.__annotations__)}"
        )
    keys = tuple(settings.get("api_keys", ()))  # of a lone text its letters, which are too many
    if len(keys) > TENANTS:
        raise UsageError("api_keys: give a tuple of one key, or of two: there are two tenants")
    for name, (least, most) in _RANGES.items():
        given = settings.get(name)
        for value in given if isinstance(given, tuple | list) else (given,):
            if value is not None and not (isinstance(value, int) and least <= value <= most):
                raise UsageError(f"{name}: {value!r} is no whole number from {least:,} to {most:,}")
    if settings.get("budget_usd") is not None and settings.get("prices") is None:
        raise UsageError("budget_usd needs prices")
    known = read_facts(settings["facts"]) if "facts" in settings else None
    bounds = _bounds(settings, known)
    names = settings.get("scenarios", ())
    return Options(
        target=Target(
            base_url=parse_url(url),
            model=settings.get("model"),
            declared_context=settings.get("context") or (known.declared_context if known else None),
            dialect=COMPLETIONS if settings.get("completions", False) else CHAT,
            timeout_s=settings.get("timeout_s", 600.0),
        ),
        seeders=(tenant_of("a", keys[0] if keys else None, seed),),
        harvester=tenant_of("b", keys[-1] if keys else None, seed),
        bounds=bounds,
        seed=seed,
        key=key_of(seed),
        depths=settings.get("depths", DEPTHS),
        counter=tokenizer_of(settings["tokenizer"]) if "tokenizer" in settings else None,
        scenarios=scenarios_of(names, bounds, option="scenarios"),
        limits=Limits(
            tokens=settings.get("budget_tokens"),
            usd=settings.get("budget_usd"),
            prices=settings.get("prices"),
            requests_per_s=settings.get("max_rps"),
        ),
    )


def _bounds(settings: Settings, known: KnownLengths | None) -> Bounds:
    units = tuple(settings.get("multiples", ())) or (MULTIPLE_NEAR_TOKENS,)
    return Bounds(
        limits=tuple(settings.get("limits", ())),
        boundaries=known.boundaries if known else (),
        known_pool_tokens=known.pool_tokens if known else None,
        multiples=tuple(dict.fromkeys((*(known.pages if known else ()), *units))),
        lengths=tuple(settings.get("lengths", ())),
        repeats=settings.get("repeats", 1),
        bisections=settings.get("bisections", 6),
        requests_max=settings.get("max_requests", 256),
        concurrency=settings.get("concurrency", 8),
    )


def _journal(settings: Settings) -> Recorder:
    file = settings.get("journal")
    return Journal(file) if file is not None else NoJournal()
