"""`trtllm-serve`: `/version`, `/v1/models`, and the iterations in `/metrics`, which are JSON.

The iterations give the number of blocks and their size, once a request has been served. Its documentation says that
what is read there is taken out of a queue, so an exporter that polls it misses those lines. The fields are those of
its documentation; no server of it was asked here.
"""

from __future__ import annotations

from kvfence.facts.endpoints.pages import Fields, Pages, derived, known
from kvfence.facts.fact import Engine, Fact, NodeFacts
from kvfence.findings.finding import Evidence

PATHS = ("/v1/models", "/version", "/metrics")


def read(pages: Pages) -> tuple[NodeFacts, ...]:
    """The node; none if it is not TensorRT-LLM."""
    stats = next((kv for step in pages.json_list("/metrics") if (kv := step.inner("kvCacheStats"))), None)
    card, version = pages.owned_by("tensorrt_llm"), pages.json("/version")
    seen = _seen(card, stats)
    if seen is None:
        return ()
    facts = {
        "engine": Fact(Engine.TENSORRT_LLM.value, seen),
        "engine_version": version.text("version") if version else None,
        "pool_tokens": _blocks(stats) if stats else None,
        "context_length": card.positive("max_model_len") if card else None,
        "page_size": stats.positive("tokensPerBlock") if stats else None,
    }
    return (NodeFacts(name=pages.base.name, facts=known(facts)),)


def _seen(card: Fields | None, stats: Fields | None) -> Evidence | None:
    if card is not None:
        return card.seen("owned_by", "tensorrt_llm")
    return stats.seen("maxNumBlocks", stats.fields.get("maxNumBlocks")) if stats is not None else None


def _blocks(stats: Fields) -> Fact | None:
    blocks, size = stats.positive("maxNumBlocks"), stats.positive("tokensPerBlock")
    if not blocks or not size:
        return None
    return derived(blocks, int(blocks.value) * int(size.value), f"times tokensPerBlock {size.value}")
