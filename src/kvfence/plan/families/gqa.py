"""Multi-head, grouped and multi-query attention: keys and values of every KV head, for every token."""

from __future__ import annotations

from kvfence.plan.cache import Keeps, Layers
from kvfence.plan.heads import check_split, head_dim, heads_here, key_heads
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Setting

NAME = "MHA/GQA"
SOURCE = "SGLang 0.5.23 pool_configurator.py _compute_cell_size; vLLM 0.32 kv_cache_interface.py AttentionSpec"


def token_bytes(config: ModelConfig, setting: Setting) -> int:
    """`kv_heads * (head_dim + v_head_dim) * element`, of one layer on one GPU.

    SGLang 0.5.23 `model_executor/pool_configurator.py DefaultPoolConfigurator._compute_cell_size`;
    vLLM 0.32 `v1/kv_cache_interface.py AttentionSpec.unpadded_page_size_bytes`.
    """
    check_split(config, setting)
    width = head_dim(config)
    both = width + config.whole("v_head_dim", default=width)
    return heads_here(key_heads(config), setting) * both * setting.kv_dtype.bytes


def layers(config: ModelConfig, setting: Setting, count: int | None = None) -> tuple[Layers, ...]:
    """As many layers, or all of the model's."""
    return (
        Layers(
            name="attention",
            keeps=Keeps.FULL,
            count=setting.layers_here(config.layers if count is None else count),
            token_bytes=token_bytes(config, setting),
            source=SOURCE,
        ),
    )
