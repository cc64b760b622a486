"""One act of the demo: a served cell, two customers, the audit of its log and a probe from outside.

The same steps under any rules; nothing here knows what should come out.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kvfence.audit import inspect
from kvfence.cell.documents import foreign_run
from kvfence.cell.openai_requests import tenant_of
from kvfence.cell.paged_kv import PagedKV
from kvfence.cell.server import RunningCell, running_cell
from kvfence.cell.workers import ThreadWorkers
from kvfence.core.ids import Role
from kvfence.core.rules import Rules
from kvfence.demo.clients import Answer, Customer
from kvfence.demo.sizes import Lengths
from kvfence.findings.deployment import AuditResult
from kvfence.findings.recall import ProbeResult
from kvfence.probe import Bounds, Options, Target, Tenant, run

TIMES_A_ASKS = 2
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What happened under one set of rules."""

    rules: str
    victim: Answer
    """Tenant A's own answer, as a control: the model does answer rightly."""
    victim_right: bool
    asker: Answer
    """Tenant B's."""
    asker_prompt_tokens: int
    secrets_leaked: tuple[str, ...]
    foreign_text: str
    """The longest run of A's text in B's answer."""
    pages_before: tuple[str, ...]
    """Whose bytes lay in decode's pages before B asked: `A`, `B` or nobody, in page order."""
    pages_read: tuple[str, ...]
    """Whose bytes lay in the pages that were read for B, in B's page-table order; empty when none were."""
    oracle_saw: int
    audit: AuditResult
    log_lines: tuple[str, ...]
    probe: ProbeResult
    seconds: float

    @property
    def leaked(self) -> bool:
        """Whether B's answer held one of A's secrets whole."""
        return bool(self.secrets_leaked)


def run_act(rules: Rules, lengths: Lengths, rng: random.Random, folder: Path, say: Say) -> Act:
    """Serve, ask, audit, probe."""
    started = time.perf_counter()
    log = folder / f"cell-{rules.name}.log"
    with _logged_to(log), running_cell(lengths.config(rules)) as cell:
        say(f"tenant A sends {lengths.fits:,} tokens, and its secrets are in them")
        victim = Customer.with_document("tenant-a", cell.url, rng, lengths.fits)
        answers = [victim.ask() for _ in range(TIMES_A_ASKS)]
        before = _owners_in_pool(cell)
        say(f"tenant B sends {lengths.between:,} tokens: over prefill's pool, under the context")
        asker = Customer.with_document("tenant-b", cell.url, rng, lengths.between)
        got = asker.ask()
        read, oracle_saw = _owners_read(cell), _foreign_reads(cell)
        say("the probe asks from outside, knowing nothing but the URL")
        probe = run(_probe_options(cell.url, lengths, rng.randrange(2**48)))
    say("the audit reads the cell's own log")
    return Act(
        rules=rules.name,
        victim=answers[-1],
        victim_right=bool(victim.secrets_in(answers[-1])),
        asker=got,
        asker_prompt_tokens=lengths.between,
        secrets_leaked=victim.secrets_in(got),
        foreign_text=foreign_run(got.text, asker.document.text, victim.document.text),
        pages_before=before,
        pages_read=read,
        oracle_saw=oracle_saw,
        audit=inspect([str(log)]),
        log_lines=tuple(log.read_text(encoding="utf-8").splitlines()),
        probe=probe,
        seconds=time.perf_counter() - started,
    )


def _probe_options(url: str, lengths: Lengths, seed: int) -> Options:
    return Options(
        target=Target(base_url=url),
        seeders=(Tenant(name="tenant-c", api_key="probe-seeder", salt="probe-seeder"),),
        harvester=Tenant(name="tenant-d", api_key="probe-harvester", salt="probe-harvester"),
        bounds=Bounds(limits=(lengths.prefill_pool,), multiples=(), sweep_factor=1, seeds_each=1, bisections=2),
        seed=seed,
        key=f"demo {seed}".encode(),
        depths=3,
    )


def _owners_in_pool(cell: RunningCell) -> tuple[str, ...]:
    store = _stores(cell)
    pages = store.page_count
    return tuple(_letter(owner) for owner in store.owners(range(pages)))


def _owners_read(cell: RunningCell) -> tuple[str, ...]:
    return tuple(_letter(owner) for owner in _stores(cell).owners_of_first_read(tenant_of("tenant-b", None)))


def _foreign_reads(cell: RunningCell) -> int:
    return _stores(cell).foreign_reads


def _stores(cell: RunningCell) -> PagedKV:
    workers = cell.workers
    if not isinstance(workers, ThreadWorkers):
        raise TypeError("the demo looks into the pages of a cell whose workers are threads")
    return workers.stores[Role.DECODE]


def _letter(owner: str) -> str:
    return {tenant_of("tenant-a", None): "A", tenant_of("tenant-b", None): "B"}.get(owner, "")


@contextmanager
def _logged_to(path: Path) -> Iterator[None]:
    """The cell's log goes to `path`, as a server's standard error would."""
    writer = logging.FileHandler(path, encoding="utf-8")
    writer.setFormatter(logging.Formatter("[%(asctime)s] %(message)s", datefmt="%Y-%m-%d %H:%M:%S"))
    logger = logging.getLogger("kvfence.cell")
    logger.addHandler(writer)
    level, propagates = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(writer)
        logger.setLevel(level)
        logger.propagate = propagates
        writer.close()
