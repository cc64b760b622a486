"""Drafts for speculative decoding: more layers that keep tokens, in the same memory."""

from __future__ import annotations

from dataclasses import replace

from kvfence.plan.cache import Cache, Keeps, Layers
from kvfence.plan.setting import Setting

SOURCE = "SGLang 0.5.23 pool_configurator.py DefaultPoolConfigurator (EAGLE, MTP); vLLM 0.32 get_kv_cache_groups"


def with_builtin(cache: Cache, setting: Setting) -> Cache:
    """The model's own MTP layers: each costs what one of its layers with full attention costs, indexer included.

    SGLang 0.5.23 `model_executor/pool_configurator.py`: `cell * draft layers / layers`, and an indexer in each.
    """
    if not setting.draft_layers:
        return cache
    alike = cache.of(Keeps.FULL)
    more = tuple(
        replace(some, name=f"draft {some.name}", count=setting.draft_layers, source=SOURCE)
        for some in (*alike[:1], *(some for some in alike[1:] if some.side))
    )
    return replace(cache, layers=(*cache.layers, *more))


def with_model(cache: Cache, draft: Cache) -> Cache:
    """Another model as the draft: its layers beside the model's, every token in both."""
    more = tuple(replace(some, name=f"draft {some.name}", keeps=_kept(some)) for some in draft.layers)
    return replace(cache, layers=(*cache.layers, *more))


def _kept(some: Layers) -> Keeps:
    return Keeps.STATE if some.keeps is Keeps.STATE else Keeps.FULL
