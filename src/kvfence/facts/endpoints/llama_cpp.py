"""llama.cpp's server: `/props`. It has no prefill and decode apart.

Asked: the server of the wheel xllamacpp 2026.10.11549 with SmolLM2-135M, context 2,048 and two slots; its `/props` is
`tests/corpus/endpoints/llama-cpp-2026-10-props.json`. `n_ctx` there is what one prompt may fill: 1,024, the cells of a
slot, or 2,048 with one cache for all slots (`kv_unified`), which `/props` does not tell apart. A prompt of one token
less is answered, after which there is room for one token; a prompt of `n_ctx` is refused with status 400 and
`exceed_context_size_error`. Two prompts of 1,500 at once in the one cache of 2,048 both ended with status 500, "Context
size has been exceeded". Cells are allocated at the start either way, so a pool of `n_ctx` holds any one prompt.
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
        "pool_tokens": derived(context, int(context.value), "cells for one prompt, allocated at its start")
        if context
        else None,
        "context_length": context,
        "usable_length": derived(context, int(context.value) - 1, "a prompt of it is refused") if context else None,
        "model": props.text("model_path"),
    }
    return (NodeFacts(name=pages.base.name, facts=known(facts)),)
