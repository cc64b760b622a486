"""Hugging Face's text-generation-inference: `/info`.

`max_total_tokens` is the context, `max_batch_total_tokens` what its cache holds, where it is told (up to 2.x). It has
no prefill and decode apart. The fields are those of its documentation; no server of it was asked here.
"""

from __future__ import annotations

from kvfence.facts.endpoints.pages import Pages, known
from kvfence.facts.fact import Engine, Fact, NodeFacts, Role

PATHS = ("/info",)


def read(pages: Pages) -> tuple[NodeFacts, ...]:
    """The node; none if it is not TGI."""
    info = pages.json("/info")
    if info is None or not info.has("model_id", "max_total_tokens"):
        return ()
    seen = info.seen("max_total_tokens", info.fields["max_total_tokens"])
    facts = {
        "engine": Fact(Engine.TGI.value, seen),
        "engine_version": info.text("version"),
        "role": Fact(Role.UNIFIED.value, seen),
        "pool_tokens": info.positive("max_batch_total_tokens"),
        "context_length": info.positive("max_total_tokens"),
        "usable_length": info.positive("max_input_tokens") or info.positive("max_input_length"),
        "model": info.text("model_id"),
        "device": info.text("model_device_type"),
    }
    return (NodeFacts(name=pages.base.name, facts=known(facts)),)
