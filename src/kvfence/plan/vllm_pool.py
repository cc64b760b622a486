"""How vLLM turns memory into tokens: blocks of one size, shared by groups of layers with block tables of their own.

The tokens are `concurrency at the context * context`, the figure that vLLM 0.32 logs and that its "Maximum
concurrency" line has always meant. Older versions log another figure for hybrid models, `blocks // groups * block`.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.plan.cache import Cache, Keeps, Layers
from kvfence.plan.families import dsa, mla
from kvfence.plan.setting import Setting
from kvfence.plan.vllm_profile import batched_tokens

BLOCK = 16
LATENT_BLOCK = 64
ALIGNMENT = 16
MANY = 1.5


@dataclass(frozen=True, slots=True)
class Group:
    """Layers that share a block table: the block's bytes over them, and the blocks that one request takes."""

    layers: int
    block: int
    """Tokens of one block."""
    page_bytes: int
    blocks_per_request: int


def page_of(cache: Cache, setting: Setting) -> int:
    """`--block-size`, or 16; latent attention's kernels take 64."""
    return setting.page_size or (LATENT_BLOCK if cache.family in {mla.NAME, dsa.NAME} else BLOCK)


def tokens(cache: Cache, rest_bytes: float, setting: Setting, context: int) -> int:
    """Tokens that requests of the context's length can hold together; a request may take blocks that it does not fill.

    vLLM 0.32 `v1/core/kv_cache_utils.py get_kv_cache_config_from_groups`, `get_max_concurrency_for_kv_cache_config`,
    `get_kv_cache_capacity`.
    """
    groups = groups_of(cache, setting, context)
    block = max(group.layers * group.page_bytes for group in groups)
    blocks = max(int(rest_bytes), 0) // block
    return blocks * context // sum(group.blocks_per_request for group in groups)


def tokens_logged_before_021(cache: Cache, rest_bytes: float, setting: Setting, context: int) -> int:
    """What versions before 0.21 log as the cache's size: blocks shared out evenly, by the smallest block.

    vLLM 0.19 `v1/core/kv_cache_utils.py _report_kv_cache_config`; corrected by vllm-project/vllm#40694 and others.
    """
    groups = groups_of(cache, setting, context)
    block = max(group.layers * group.page_bytes for group in groups)
    return max(int(rest_bytes), 0) // block // len(groups) * min(group.block for group in groups)


def groups_of(cache: Cache, setting: Setting, context: int) -> tuple[Group, ...]:
    """One group where all layers keep every token; else groups of equally many layers with pages of one size."""
    if cache.of(Keeps.STATE):
        return _with_states(cache, setting, context)
    if cache.of(Keeps.WINDOW) and cache.of(Keeps.FULL):
        return _with_windows(cache, setting, context)
    page = page_of(cache, setting)
    kind = Keeps.FULL if cache.of(Keeps.FULL) else Keeps.WINDOW
    length = context if kind is Keeps.FULL else _window_tokens(cache, setting, context)
    spare = 0 if kind is Keeps.FULL else 1
    return (Group(1, page, page * cache.token_bytes(kind), -(-length // page) + spare),)


def _window_tokens(cache: Cache, setting: Setting, context: int) -> int:
    """What a request keeps in a layer with a window: the window and a batch (vLLM 0.32 `SlidingWindowSpec`)."""
    return min(cache.window - 1 + batched_tokens(setting), context)


def _with_windows(cache: Cache, setting: Setting, context: int) -> tuple[Group, ...]:
    """Full layers and layers with a window in groups of as many layers as the smaller kind has.

    vLLM 0.32 `v1/core/kv_cache_utils.py _get_kv_cache_groups_uniform_page_size`; pages of one size are made by longer
    blocks for layers with smaller tokens (`unify_kv_cache_spec_page_size`).
    """
    page = page_of(cache, setting)
    kinds = [*_alike(cache.of(Keeps.FULL)), *_alike(cache.of(Keeps.WINDOW))]
    size = _group_size([some.count for some in kinds])
    largest = max(some.token_bytes for some in kinds)
    found = []
    for some in kinds:
        block = page * (largest // some.token_bytes)
        length = context if some.keeps is Keeps.FULL else _window_tokens(cache, setting, context)
        each = -(-length // block) + (some.keeps is Keeps.WINDOW)
        found += [Group(size, block, page * largest, each)] * -(-some.count // size)
    return tuple(found)


def _alike(layers: tuple[Layers, ...]) -> list[Layers]:
    return [some for some in layers if some.token_bytes]


def _group_size(counts: list[int]) -> int:
    """The fewest layers of a kind; the most, where that is less than half more."""
    return max(counts) if max(counts) < MANY * min(counts) else min(counts)


def _with_states(cache: Cache, setting: Setting, context: int) -> tuple[Group, ...]:
    """Attention's block is made as large as a state, and each group of recurrent layers takes one block a request.

    vLLM 0.32 `model_executor/models/config.py HybridAttentionMambaModelConfig` (block in steps of 16 tokens) and
    `v1/core/kv_cache_utils.py _get_kv_cache_groups_uniform_page_size`.
    """
    states = cache.of(Keeps.STATE)
    full = cache.of(Keeps.FULL)
    state = max(some.state_bytes for some in states)
    if not full:
        return (Group(sum(some.count for some in states), 1, state, _states(setting)),)
    token = max(some.token_bytes for some in full)
    step = max(ALIGNMENT, setting.page_size or 0)
    block = step * max(1, -(-state // (step * token)))
    counts = [sum(some.count for some in full), sum(some.count for some in states)]
    size = _group_size(counts)
    page = block * token
    attention = [Group(size, block, page, -(-context // block))] * -(-counts[0] // size)
    return (*attention, *[Group(size, block, page, _states(setting))] * -(-counts[1] // size))


def _states(setting: Setting) -> int:
    """Blocks of one request in a group of recurrent layers (vLLM 0.32 `MambaSpec.max_memory_usage_bytes`)."""
    return (2 if setting.radix else 1) + setting.draft_tokens
