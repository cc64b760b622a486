"""The same campaign over every vendor, one after the other, within one budget and with a journal for each.

A vendor that cannot be probed is told as such, and the next one is asked. Each vendor's prompts have a seed of their
own: two vendors may rest on the same servers, and must not meet the same prompt twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kvfence.errors import KvfenceError, TargetError, UsageError
from kvfence.findings.comparison import Comparison, ProviderResult
from kvfence.probe.counting import Counter
from kvfence.probe.course import Watcher
from kvfence.probe.drive import NO_JOURNAL, probe
from kvfence.probe.journal import Journal
from kvfence.probe.limits import Purse, Till
from kvfence.probe.options import Options, key_of
from kvfence.probe.patience import PATIENCE, Patience
from kvfence.probe.prompts import DEPTHS
from kvfence.probe.providers.provider import Provider
from kvfence.probe.record import Scenario
from kvfence.probe.registry.planted import NO_REGISTRY, Registry
from kvfence.probe.stop import Stop
from kvfence.probe.target import Bounds

SEED_FILE = "seed"
SEED_BYTES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ForEach:
    """What is the same for every vendor."""

    bounds: Bounds = field(default_factory=Bounds)
    depths: int = DEPTHS
    scenarios: tuple[Scenario, ...] = (Scenario.SWEEP,)
    counter: Counter | None = None
    requests_per_s: float | None = None
    """Of each vendor that names no other pace."""
    patience: Patience = PATIENCE
    timeout_s: float = 600.0
    """Of each answer, of a vendor that names no other."""
    registry: Registry = field(default=NO_REGISTRY, repr=False)
    """Remembers every marker; vendors that rest on the same servers show in it."""


WatcherOf = Callable[[Provider], Watcher | None]
"""Who is told how far the campaign over one vendor is."""


def nobody(_provider: Provider) -> None:
    """Nobody is told."""


async def compare(
    providers: Sequence[Provider],
    each: ForEach,
    *,
    seed: int | None = None,
    folder: Path | None = None,
    till: Till | None = None,
    watch: WatcherOf = nobody,
    stop: Stop | None = None,
) -> Comparison:
    """Probe every vendor, from the start or from where the journals in `folder` were cut off.

    Args:
        providers: whom, in this order.
        each: what is asked of each.
        seed: of all; None: the folder's, else a new one.
        folder: where each vendor's journal is, made if it is not there; None: nothing is kept.
        till: what all may spend together; None: as much as each may.
        watch: who is told how far it is.
        stop: ends the campaign that is under way in order; those after it are not begun.

    Raises:
        UsageError: a file in the folder is something else, or has another seed.
        TargetError: the folder cannot be written.
    """
    till, stop = till or Till(), stop or Stop()
    chosen = _seed(seed, folder)
    with contextlib.ExitStack() as files:
        journals = {one.name: files.enter_context(Journal(_file(folder, one))) for one in providers if folder}
        for provider in providers:
            purse = Purse(provider.limits, till.share(provider.name))
            for cost, tries in journals[provider.name].spent() if folder else ():
                purse.recall(cost, tries)
        results: list[ProviderResult] = []
        for one in providers:
            options, journal = options_of(one, each, chosen, till), journals.get(one.name)
            results.append(await _result(one, options, journal, watch(one), stop))
    return Comparison(
        providers=tuple(results),
        seed=chosen,
        tokens=till.tokens,
        usd=till.usd,
        seconds=sum(one.result.seconds for one in results if one.result),
    )


def options_of(provider: Provider, each: ForEach, seed: int, till: Till) -> Options:
    """One vendor's campaign, by the seed of all."""
    own = seed_for(seed, provider.name)
    *seeders, harvester = (party.tenant(own) for party in provider.parties)
    limits = provider.limits
    return Options(
        target=replace(provider.target, timeout_s=provider.timeout_s or each.timeout_s),
        seeders=tuple(seeders),
        harvester=harvester,
        bounds=replace(each.bounds, requests_max=provider.requests_max or each.bounds.requests_max),
        seed=own,
        key=key_of(own),
        depths=each.depths,
        counter=each.counter,
        scenarios=each.scenarios,
        limits=replace(limits, requests_per_s=limits.requests_per_s or each.requests_per_s),
        patience=each.patience,
        share=till.share(provider.name),
        registry=each.registry,
    )


def seed_for(seed: int, name: str) -> int:
    """A vendor's own seed."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:SEED_BYTES])


async def _result(
    provider: Provider, options: Options, journal: Journal | None, watch: Watcher | None, stop: Stop
) -> ProviderResult:
    told = ProviderResult(
        name=provider.name,
        kind=provider.kind,
        url=provider.target.shown,
        model=provider.target.model or "",
        pinned=provider.pinned,
    )
    by = stop.by
    if by:
        return replace(told, stopped=f"{by} stopped it before its turn")
    try:
        result = await probe(options, watch, journal or NO_JOURNAL, stop)
    except KvfenceError as error:
        return replace(told, stopped=str(error))
    except asyncio.CancelledError:
        if not stop.by:
            raise
        return replace(told, stopped=f"{stop.by} stopped it before anything was asked")
    return replace(told, result=result)


def _file(folder: Path | None, provider: Provider) -> Path:
    return (folder or Path()) / f"{provider.name}.journal"


def _seed(given: int | None, folder: Path | None) -> int:
    """The one that is asked for, else the one of the folder, else a new one; the folder keeps it."""
    chosen = secrets.randbits(48) if given is None else given
    if folder is None:
        return chosen
    file = folder / SEED_FILE
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not file.exists():
            file.write_text(f"{chosen}\n", encoding="ascii")
        kept = int(file.read_text(encoding="ascii"))
    except ValueError as error:
        raise UsageError(f"{file} is no seed of kvfence's probe; name another folder") from error
    except OSError as error:
        raise TargetError(f"{folder}: no journals can be kept there: {error.strerror}; name another folder") from error
    if given is not None and kept != given:
        raise UsageError(f"{folder} is of another campaign (seed {kept}, not {given}); name another folder")
    return kept
