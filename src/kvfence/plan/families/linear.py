"""Hybrids of attention with recurrent layers (Mamba-2, gated delta nets, Kimi's).

A recurrent layer keeps one state a request, however long it is; the others keep tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.errors import UsageError
from kvfence.plan.cache import Keeps, Layers
from kvfence.plan.families import gqa, mla
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Engine, Setting

NAME = "linear/Mamba hybrid"
SOURCE = "SGLang 0.5.23 mamba_utils.py Mamba2StateShape; vLLM 0.32 mamba_utils.py MambaStateShapeCalculator"
_ATTENTION = {"attention", "full_attention", "*", "hybrid"}
_RECURRENT = {"mamba", "mamba2", "linear_attention", "M", "hybrid"}
_NEITHER = {"mlp", "moe", "-", "E"}


@dataclass(frozen=True, slots=True)
class State:
    """A recurrent layer's state before it is split over GPUs, in numbers."""

    channels: int
    taps: int
    """Tokens that a convolution looks back."""
    recurrent: int


def matches(config: ModelConfig) -> bool:
    """It says how wide a state is."""
    return _state(config) is not None


def _state(config: ModelConfig) -> State | None:
    if config.get("linear_num_value_heads") is not None:
        return _gated_delta(config)
    if config.part("linear_attn_config"):
        return _kimi(config)
    if config.get("mamba_num_heads", "mamba_n_heads") is not None:
        return _mamba(config)
    return None


def _gated_delta(config: ModelConfig) -> State:
    """Qwen3-Next, Qwen3.5: `conv = 2 * key heads * key dim + value heads * value dim`, times the kernel less one.

    SGLang 0.5.23 `configs/qwen3_next.py mamba2_cache_params`; vLLM 0.32 `gated_delta_net_state_shape`.
    """
    heads, width = config.whole("linear_num_value_heads"), config.whole("linear_value_head_dim")
    keys, key_width = config.whole("linear_num_key_heads"), config.whole("linear_key_head_dim")
    taps = config.whole("linear_conv_kernel_dim", default=4) - 1
    return State(2 * keys * key_width + heads * width, taps, heads * width * key_width)


def _kimi(config: ModelConfig) -> State:
    """Kimi Linear: convolutions of `3 * heads * dim`, a square state a head (SGLang 0.5.23 `KimiLinearStateShape`)."""
    part = config.part("linear_attn_config")
    try:
        heads, width, kernel = (int(part[name]) for name in ("num_heads", "head_dim", "short_conv_kernel_size"))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{config.file}: linear_attn_config lacks {error}; give a config that has it") from error
    return State(3 * heads * width, kernel - 1, heads * width * width)


def _mamba(config: ModelConfig) -> State:
    """Mamba-2 (Nemotron-H, Granite 4, Falcon-H1): `conv = heads * dim + 2 * groups * state`.

    SGLang 0.5.23 `configs/mamba_utils.py Mamba2StateShape.create`; vLLM 0.32 `mamba2_state_shape`.
    """
    heads = config.whole("mamba_num_heads", "mamba_n_heads")
    width = config.whole("mamba_head_dim", "mamba_d_head")
    state = config.whole("ssm_state_size", "mamba_d_state", "mamba_state_size")
    groups = config.whole("n_groups", "mamba_n_groups", default=1)
    taps = config.whole("conv_kernel", "mamba_d_conv", default=4) - 1
    return State(heads * width + 2 * groups * state, taps, heads * width * state)


def recurrent_bytes(config: ModelConfig, setting: Setting) -> int:
    """Of one number of the recurrent state.

    The config's `mamba_ssm_dtype` or `mamba_ssm_cache_dtype`; else SGLang's `--mamba-ssm-dtype` is float32 and vLLM's
    `--mamba-ssm-cache-dtype auto` is the model's own type.
    """
    named = str(config.get("mamba_ssm_dtype", "mamba_ssm_cache_dtype") or "")
    if named.endswith("32"):
        return 4
    if named.endswith("16"):
        return 2
    return 4 if setting.engine is Engine.SGLANG else 2


def kinds(config: ModelConfig) -> tuple[int, int]:
    """How many layers have attention, and how many a state; a layer may have both (Falcon-H1) or neither.

    Raises:
        UsageError: a kind of layer that is not known, or no way to tell.
    """
    part = config.part("linear_attn_config")
    if part:
        linear = len(part.get("kda_layers") or ())
        return config.layers - linear, linear
    named = config.words("layer_types") or config.words("layers_block_type") or config.words("hybrid_override_pattern")
    if named:
        strange = sorted(set(named) - _ATTENTION - _RECURRENT - _NEITHER)
        if strange:
            raise UsageError(f"{config.file}: layers of kind {strange[0]!r} are not known; give --kv-bytes-per-token")
        return sum(kind in _ATTENTION for kind in named), sum(kind in _RECURRENT for kind in named)
    if config.get("full_attention_interval") is not None:
        full = config.layers // config.whole("full_attention_interval")
        return full, config.layers - full
    if config.architecture.startswith("FalconH1"):
        return config.layers, config.layers
    raise UsageError(f"{config.file}: it has recurrent layers and does not say which; give a config with layer_types")


def layers(config: ModelConfig, setting: Setting) -> tuple[Layers, ...]:
    """Attention in some layers, a state in others; the state's heads are split over the GPUs.

    vLLM's convolutions also keep a draft's guesses (vLLM 0.32 `mamba_utils.py gated_delta_net_state_shape`).
    """
    state = _state(config)
    assert state is not None
    full, recurrent = kinds(config)
    family = mla if mla.matches(config) else gqa
    split = setting.attention_tp
    taps = state.taps + (setting.draft_tokens if setting.engine is Engine.VLLM else 0)
    size = -(-state.channels // split) * taps * 2 + -(-state.recurrent // split) * recurrent_bytes(config, setting)
    return (
        *(some for some in family.layers(config, setting, full) if full),
        Layers(
            name="recurrent state",
            keeps=Keeps.STATE,
            count=setting.layers_here(recurrent),
            state_bytes=size,
            source=SOURCE,
        ),
    )


def parameters(config: ModelConfig) -> int:
    """Numbers in the matrices of one recurrent layer: into the state and out of it."""
    hidden = config.hidden
    if config.get("linear_num_value_heads") is not None:
        values = config.whole("linear_num_value_heads") * config.whole("linear_value_head_dim")
        keys = config.whole("linear_num_key_heads") * config.whole("linear_key_head_dim")
        return hidden * (2 * keys + 3 * values + 2 * config.whole("linear_num_value_heads"))
    part = config.part("linear_attn_config")
    if part:
        inner = int(part["num_heads"]) * int(part["head_dim"])
        return hidden * (4 * inner + 4 * int(part["head_dim"]))
    heads = config.whole("mamba_num_heads", "mamba_n_heads")
    inner = heads * config.whole("mamba_head_dim", "mamba_d_head")
    state = config.whole("ssm_state_size", "mamba_d_state", "mamba_state_size")
    groups = config.whole("n_groups", "mamba_n_groups", default=1)
    return hidden * (3 * inner + 2 * groups * state + heads)
