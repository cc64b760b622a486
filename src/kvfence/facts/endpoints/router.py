"""A router's list of its workers: SGLang's router and gateway, `/workers` and `/list_workers`. Nothing is asked here.

Seen: `{"urls": ["http://…"]}`, `{"workers": [{"id", "url", "worker_type"}, …]}` where `url` may be missing and `id` be
the address, and addresses of one DP rank, `http://host:30000@0`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kvfence.facts.endpoints.base import Base, worker_base
from kvfence.facts.endpoints.pages import Fields, Pages
from kvfence.facts.fact import Fact, Role

PATHS = ("/workers", "/list_workers")
WORKERS_MAX = 32
"""That are asked of one router; the rest is left out and said so."""
_LISTS = ("workers", "urls", "prefill_workers", "decode_workers")
_TYPES = {"prefill": Role.PREFILL, "decode": Role.DECODE}


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker that a router names."""

    base: Base
    role: Fact | None
    """What the router calls it."""


@dataclass(frozen=True, slots=True)
class Workers:
    """What a router lists."""

    asked: tuple[Worker, ...]
    left_out: tuple[str, ...]
    """Why others are not asked, each a sentence."""


def workers(pages: Pages) -> Workers | None:
    """The workers that it lists; None if it is no router."""
    for path in PATHS:
        listed = pages.json(path)
        if listed and any(isinstance(listed.fields.get(name), list) for name in _LISTS):
            return _sorted_out(pages.base, listed)
    return None


def _sorted_out(router: Base, listed: Fields) -> Workers:
    asked: dict[str, Worker] = {}
    left_out: dict[str, None] = {}
    over = 0
    for address, role in _named(listed):
        worker = worker_base(address, router)
        if isinstance(worker, str):
            left_out[f"a worker that it lists {worker}"] = None
        elif worker == router:
            left_out["it lists itself as a worker"] = None
        elif worker.shown not in asked and len(asked) >= WORKERS_MAX:
            over += 1
        else:
            asked.setdefault(worker.shown, Worker(worker, role))
    if over:
        left_out[f"it lists more than {WORKERS_MAX} workers; {over} were left out: name them as targets"] = None
    return Workers(tuple(asked.values()), tuple(left_out))


def _named(listed: Fields) -> Iterator[tuple[str, Fact | None]]:
    for name in _LISTS:
        items = listed.fields.get(name)
        texts = [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
        yield from ((address, None) for address in texts)
        for worker in listed.each(name):
            address = worker.text("url") or worker.text("id")
            if address:
                yield str(address.value), _role(worker)


def _role(worker: Fields) -> Fact | None:
    kind = worker.text("worker_type")
    role = _TYPES.get(str(kind.value).lower()) if kind else None
    return Fact(role.value, kind.seen) if role and kind else None
