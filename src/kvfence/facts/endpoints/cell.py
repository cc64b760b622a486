"""kvfence's own cell: its router's `/metrics` has one `kvfence_worker_info` a worker, with its settings."""

from __future__ import annotations

from kvfence.facts.endpoints.pages import Metric, Pages, known
from kvfence.facts.fact import Engine, Fact, NodeFacts

PATHS = ("/metrics",)
_INFO = "kvfence_worker_info"
_NUMBERS = {"pool_tokens", "context_length", "page_size", "tp_size", "usable_tokens"}
_TEXTS = ("engine_version", "role", "rules", "kv_dtype", "checks")
_ROLES = {"prefill", "decode"}


def read(pages: Pages) -> tuple[NodeFacts, ...]:
    """Its workers; none if it is not a cell."""
    lines = [metric for metric in pages.metrics("kvfence_") if metric.name == _INFO]
    return tuple(_worker(line) for line in lines if line.labels.get("role") in _ROLES and line.labels.get("worker"))


def _worker(line: Metric) -> NodeFacts:
    found = {name: line.label_count(name) for name in _NUMBERS} | {name: line.label(name) for name in _TEXTS}
    found["usable_length"] = found.pop("usable_tokens")
    role = found["role"]
    engine = Fact(Engine.CELL.value, role.seen) if role else None
    return NodeFacts(name=line.labels["worker"][:64], facts=known({"engine": engine, **found}))
