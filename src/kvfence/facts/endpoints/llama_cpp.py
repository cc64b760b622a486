"""llama.cpp's server: `/props`. A slot's cells are allocated at its start, so a prompt of the context is held.

It has no prefill and decode apart. A prompt of `n_ctx` tokens or more is refused (asked here: a build of 2026-10).
"""

from __future__ import annotations

from kvfence.facts.endpoints.pages import Pages, derived, known
from kvfence.facts.fact import Engine, Fact, NodeFacts, Role

PATHS = ("/props",)


def read(pages: Pages) -> tuple[NodeFacts, ...]:
    """The node; none if it is not llama.cpp."""
    props = pages.json("/props")
    defaults = props.inner("default_generation_settings") if props else None
    if props is None or defaults is None or not defaults.has("n_ctx"):
        return ()
    context = defaults.positive("n_ctx")
    seen = defaults.seen("n_ctx", defaults.fields["n_ctx"])
    facts = {
        "engine": Fact(Engine.LLAMA_CPP.value, seen),
        "engine_version": props.text("build_info"),
        "role": Fact(Role.UNIFIED.value, seen),
        "pool_tokens": derived(context, int(context.value), "a slot's cells, allocated at its start")
        if context
        else None,
        "context_length": context,
        "usable_length": derived(context, int(context.value) - 1, "a prompt of it is refused") if context else None,
        "model": props.text("model_path"),
    }
    return (NodeFacts(name=pages.base.name, facts=known(facts)),)
