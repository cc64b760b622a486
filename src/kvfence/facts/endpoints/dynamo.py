"""Dynamo's front end: `/metrics` with `dynamo_frontend_model_*`, one set a model.

The blocks are those of *one* worker that serves the model, whichever registered; so the figure is told with that. The
names are those of its documentation; no server of it was asked here.
"""

from __future__ import annotations

from kvfence.facts.endpoints.pages import Metric, Pages, derived, known
from kvfence.facts.fact import Engine, Fact, NodeFacts

PATHS = ("/metrics",)
_PREFIX = "dynamo_frontend_model_"


def read(pages: Pages) -> tuple[NodeFacts, ...]:
    """A node a model; none if it is not Dynamo."""
    by_model: dict[str, dict[str, Metric]] = {}
    for metric in pages.metrics(_PREFIX):
        by_model.setdefault(metric.labels.get("model", ""), {})[metric.name.removeprefix(_PREFIX)] = metric
    return tuple(_model(pages.base.name, model, metrics) for model, metrics in by_model.items())


def _model(name: str, model: str, metrics: dict[str, Metric]) -> NodeFacts:
    counts = {
        field: fact if (fact := metrics[field].count()) and fact.value else None
        for field in ("total_kv_blocks", "kv_cache_block_size", "context_length")
        if field in metrics
    }
    blocks, size = counts.get("total_kv_blocks"), counts.get("kv_cache_block_size")
    seen = next((fact.seen for fact in counts.values() if fact), None)
    pool = int(blocks.value) * int(size.value) if blocks and size else 0
    facts = {
        "engine": Fact(Engine.DYNAMO.value, seen) if seen else None,
        "pool_tokens": derived(blocks, pool, f"times {size.value}, of one worker") if blocks and size else None,
        "context_length": counts.get("context_length"),
        "page_size": size,
        "model": next(iter(metrics.values())).label("model"),
    }
    return NodeFacts(name=f"{name} {model[:64]}".strip(), facts=known(facts))
