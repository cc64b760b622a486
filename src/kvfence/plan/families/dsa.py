"""DeepSeek sparse attention (DeepSeek-V3.2, GLM-5): a latent vector as in MLA, and an indexer's key beside it."""

from __future__ import annotations

from kvfence.plan.cache import Keeps, Layers
from kvfence.plan.families import mla
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Engine, Setting

NAME = "DSA"
SOURCE = "SGLang 0.5.23 kv_cache_configurator.py calculate_mla_kv_cache_dim; vLLM 0.32 fp8_ds_mla"
INDEXER_SOURCE = "SGLang 0.5.23 pool_configurator.py _compute_dsa_indexer_cell_size; vLLM 0.32 DeepseekV32IndexerCache"
QUANT_BLOCK = 128
"""Numbers that share one four-byte scale (SGLang `DSATokenToKVPool.quant_block_size`)."""


def matches(config: ModelConfig) -> bool:
    """MLA with an indexer."""
    return mla.matches(config) and config.get("index_topk") is not None and config.get("index_head_dim") is not None


def latent_bytes(config: ModelConfig, setting: Setting) -> int:
    """16 bits: as MLA. 8 bits: `rank + rank / 128 * 4 + rope * 2`, the scaled layout of FlashMLA's sparse kernels.

    SGLang 0.5.23 `mem_cache/kv_cache_configurator.py calculate_mla_kv_cache_dim` (its default on Blackwell, trtllm,
    keeps raw numbers: `rank + rope`); vLLM 0.32 `fp8_ds_mla` (656 bytes for 512 and 64).
    """
    rank, rope = mla.latent(config)
    if setting.kv_dtype.bytes > 1:
        return (rank + rope) * setting.kv_dtype.bytes
    if setting.engine is Engine.SGLANG and setting.gpu.generation == "blackwell":
        return rank + rope
    return rank + rank // QUANT_BLOCK * 4 + rope * 2


def indexer_bytes(config: ModelConfig) -> int:
    """One byte a number, and a scale for each 128; shared by `index_kpool` tokens where the config has it.

    SGLang 0.5.23 `model_executor/pool_configurator.py _compute_dsa_indexer_cell_size`;
    vLLM 0.32 `model_executor/models/deepseek_v2.py DeepseekV32IndexerCache`.
    """
    width = config.whole("index_head_dim")
    return -(-(width + width // QUANT_BLOCK * 4) // config.whole("index_kpool", default=1))


def indexer_layers(config: ModelConfig, setting: Setting) -> int:
    """Layers with an indexer's key of their own: SGLang keeps none where a layer takes over the last one's top-k."""
    if setting.engine is not Engine.SGLANG:
        return config.layers
    return sum(not _shares(config, layer) for layer in range(config.layers))


def _shares(config: ModelConfig, layer: int) -> bool:
    """SGLang 0.5.23 `configs/model_config.py dsa_layer_skips_topk`; from 0.5.19 on such a layer has no index buffer."""
    types, pattern = config.words("indexer_types"), config.words("index_topk_pattern")
    if types:
        return layer < len(types) and types[layer] == "shared"
    every = config.whole("cli_factor", default=1)
    if every > 1:
        return layer % every != 0
    if pattern:
        return layer < len(pattern) and pattern[layer] == "S"
    offset = config.whole("index_skip_topk_offset", default=2)
    return max(layer - offset + 1, 0) % config.whole("index_topk_freq", default=1) != 0


def layers(config: ModelConfig, setting: Setting) -> tuple[Layers, ...]:
    """The latent vectors, and the indexer's keys."""
    (plain,) = mla.layers(config, setting)
    return (
        Layers(
            name="sparse latent attention",
            keeps=Keeps.FULL,
            count=plain.count,
            token_bytes=latent_bytes(config, setting),
            source=SOURCE,
        ),
        Layers(
            name="indexer",
            keeps=Keeps.FULL,
            count=setting.layers_here(indexer_layers(config, setting)),
            token_bytes=indexer_bytes(config),
            source=INDEXER_SOURCE,
            side=True,
        ),
    )
