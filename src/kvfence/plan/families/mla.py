"""Multi-head latent attention: one latent vector a token, the same on every GPU of the tensor-parallel group."""

from __future__ import annotations

from kvfence.plan.cache import Keeps, Layers
from kvfence.plan.heads import check_split
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Setting

NAME = "MLA"
SOURCE = "SGLang 0.5.23 kv_cache_configurator.py calculate_mla_kv_cache_dim; vLLM 0.32 MLAAttentionSpec"


def matches(config: ModelConfig) -> bool:
    """A latent rank is what makes it one."""
    return config.get("kv_lora_rank") is not None


def latent(config: ModelConfig) -> tuple[int, int]:
    """Rank of the latent vector, and width of the part with positions."""
    return config.whole("kv_lora_rank"), config.whole("qk_rope_head_dim")


def layers(config: ModelConfig, setting: Setting, count: int | None = None) -> tuple[Layers, ...]:
    """`(kv_lora_rank + qk_rope_head_dim) * element` a layer, not divided by the tensor parallelism.

    SGLang 0.5.23 `mem_cache/kv_cache_configurator.py calculate_mla_kv_cache_dim`;
    vLLM 0.32 `v1/kv_cache_interface.py MLAAttentionSpec` with one head of that width.
    """
    check_split(config, setting)
    return (
        Layers(
            name="latent attention",
            keeps=Keeps.FULL,
            count=setting.layers_here(config.layers if count is None else count),
            token_bytes=sum(latent(config)) * setting.kv_dtype.bytes,
            source=SOURCE,
        ),
    )
