"""kvfence's own cell: its router's `/metrics` has one `kvfence_worker_info` a worker, with its settings.

`kvfence_handoffs_verified_total` is the positive record: how many rooms decode has sealed after its checks. Where it
has made tokens and that counter is not there, no check has run, whatever the settings say. `/v1/models` is the
router's.
"""

from __future__ import annotations

from kvfence.facts.endpoints.counters import cell_happenings
from kvfence.facts.endpoints.pages import Metric, Pages, derived, known
from kvfence.facts.fact import Engine, Fact, NodeFacts

PATHS = ("/metrics", "/v1/models")
_INFO = "kvfence_worker_info"
_NUMBERS = {"pool_tokens", "context_length", "page_size", "tp_size", "usable_tokens"}
_TEXTS = ("engine_version", "role", "rules", "kv_dtype", "checks")
_ROLES = {"prefill", "decode"}
_VERIFIED = "kvfence_handoffs_verified_total"
_DECODED = "kvfence_tokens_decoded_total"


def read(pages: Pages) -> tuple[NodeFacts, ...]:
    """Its workers; none if it is not a cell."""
    lines = [metric for metric in pages.metrics("kvfence_") if metric.name == _INFO]
    workers = [line for line in lines if line.labels.get("role") in _ROLES and line.labels.get("worker")]
    return tuple(_worker(line, pages) for line in workers)


def _worker(line: Metric, pages: Pages) -> NodeFacts:
    found = {name: line.label_count(name) for name in _NUMBERS} | {name: line.label(name) for name in _TEXTS}
    found["usable_length"] = found.pop("usable_tokens")
    role = found["role"]
    engine = Fact(Engine.CELL.value, role.seen) if role else None
    worker = line.labels["worker"]
    found["handoffs_checked"] = _checked(pages, worker)
    found["front_length"] = pages.advertised()
    return NodeFacts(
        name=worker[:64], facts=known({"engine": engine, **found}), happenings=cell_happenings(pages, worker)
    )


def _checked(pages: Pages, worker: str) -> Fact | None:
    """How many handoffs the same checks have passed; 0 where tokens were made and none was; None before any."""
    verified, decoded = (
        [
            fact
            for metric in pages.metrics(name)
            if metric.name == name and metric.labels.get("worker") == worker and (fact := metric.count())
        ]
        for name in (_VERIFIED, _DECODED)
    )
    if verified:
        return max(verified, key=lambda fact: int(fact.value))
    made = next((fact for fact in decoded if fact.value), None)
    return derived(made, 0, f"and no {_VERIFIED}") if made else None
