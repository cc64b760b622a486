"""Hybrid sliding windows (gpt-oss, Gemma, Llama 4, MiMo): some layers need only the last tokens.

Whether the engine takes the room back is another question: SGLang does so for the architectures that it lists, vLLM
for all, unless it is told not to.
"""

from __future__ import annotations

from dataclasses import replace

from kvfence.errors import UsageError
from kvfence.plan.cache import Keeps, Layers
from kvfence.plan.families import gqa
from kvfence.plan.heads import head_dim, heads_here, key_heads
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Engine, Setting

NAME = "hybrid sliding window"
SOURCE = "SGLang 0.5.23 pool_configurator.py HybridSWAPoolConfigurator; vLLM 0.32 SlidingWindowSpec"
SGLANG_WITH_TWO_POOLS = (
    "BeamForCausalLM",
    "DiffusionGemmaForBlockDiffusion",
    "Gemma4ForCausalLM",
    "Gemma4ForConditionalGeneration",
    "Gemma4UnifiedForConditionalGeneration",
    "GptOssForCausalLM",
    "GraniteMoeSWAForCausalLM",
    "GraniteSWAForCausalLM",
    "IQuestQ1ForCausalLM",
    "LagunaForCausalLM",
    "Llama4ForConditionalGeneration",
    "MellumForCausalLM",
    "MiMoV2FlashForCausalLM",
    "MiMoV2ForCausalLM",
    "Step3p5ForCausalLM",
    "Step3p7ForConditionalGeneration",
)
"""SGLang 0.5.23 `configs/model_config.py is_hybrid_swa_model`, without what is no language model."""
_WINDOWS = ("sliding_window", "sliding_window_size", "attention_chunk_size")


def matches(config: ModelConfig) -> bool:
    """Some layers slide and some do not, or all of them do."""
    return any(_slides(config))


def _slides(config: ModelConfig) -> tuple[bool, ...]:
    """For each layer whether it keeps a window only.

    By `layer_types` (transformers), `hybrid_layer_pattern` (MiMo), `sliding_window_pattern` (Gemma 3: each n-th is
    full), Llama 4's every fourth (SGLang 0.5.23 `configs/model_config.py get_hybrid_layer_ids`), else by
    `sliding_window` with `use_sliding_window` not false (Mistral).
    """
    count = config.layers
    if config.get(*_WINDOWS) is None:
        return (False,) * count
    types = config.words("layer_types")
    if types:
        return tuple(kind in {"sliding_attention", "chunked_attention"} for kind in types[:count])
    pattern = config.get("hybrid_layer_pattern")
    if isinstance(pattern, list):
        return tuple(kind == 1 for kind in pattern[:count])
    if config.get("sliding_window_pattern") is not None:
        every = config.whole("sliding_window_pattern")
        return tuple((layer + 1) % every != 0 for layer in range(count))
    if config.architecture.startswith("Llama4"):
        return tuple((layer + 1) % 4 != 0 for layer in range(count))
    # Qwen2's configs carry a window that is switched off.
    slides = config.get("sliding_window") is not None and config.get("use_sliding_window") is not False
    return (slides,) * count


def _has_two_pools(config: ModelConfig, setting: Setting) -> bool:
    if not setting.hybrid:
        return False
    if setting.engine is Engine.VLLM:
        return True
    return config.architecture in SGLANG_WITH_TWO_POOLS or config.get("is_hybrid_swa") is True


def full_layers(config: ModelConfig) -> int:
    """How many layers keep every token."""
    slides = _slides(config)
    return len(slides) - sum(slides)


def window_bytes(config: ModelConfig, setting: Setting) -> int:
    """Of one token in a layer with a window, whose heads may differ (`swa_head_dim`, `swa_num_key_value_heads`).

    SGLang 0.5.23 `model_executor/pool_configurator.py HybridSWAPoolConfigurator.__init__`.
    """
    width = config.whole("swa_head_dim", default=head_dim(config))
    both = width + config.whole("swa_v_head_dim", default=_value_width(config, width))
    heads = config.whole("swa_num_key_value_heads", default=key_heads(config))
    return heads_here(heads, setting) * both * setting.kv_dtype.bytes


def _value_width(config: ModelConfig, width: int) -> int:
    own = config.get("swa_head_dim") is not None
    return width if own else config.whole("v_head_dim", default=width)


def _global_bytes(config: ModelConfig, setting: Setting, plain: int) -> int:
    """Gemma 4's full layers have heads of their own: `num_global_key_value_heads`, `global_head_dim`."""
    if config.get("global_head_dim") is None:
        return plain
    heads = config.whole("num_global_key_value_heads", default=key_heads(config))
    return heads_here(heads, setting) * 2 * config.whole("global_head_dim") * setting.kv_dtype.bytes


def layers(config: ModelConfig, setting: Setting) -> tuple[Layers, ...]:
    """Full layers and layers with a window; all of them full where the engine keeps one pool."""
    slides = _slides(config)
    if config.get("kv_lora_rank") is not None:
        raise UsageError(f"{config.file}: latent attention with windows is not known; give --kv-bytes-per-token N")
    (full,) = gqa.layers(config, setting, len(slides) - sum(slides))
    return (
        *([replace(full, token_bytes=_global_bytes(config, setting, full.token_bytes))] if full.count else []),
        Layers(
            name="sliding window",
            keeps=Keeps.WINDOW if _has_two_pools(config, setting) else Keeps.FULL,
            count=setting.layers_here(sum(slides)),
            token_bytes=window_bytes(config, setting),
            window=config.whole(*_WINDOWS),
            source=SOURCE,
        ),
    )
