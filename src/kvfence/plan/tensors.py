"""The tensors that one GPU holds: the matrices of a model as an engine merges and splits them, and its tables.

SGLang 0.5.23 and vLLM 0.32 `layers/linear.py` (`QKVParallelLinear`, `MergedColumnParallelLinear`), `fused_moe/layer.py`
(all experts of a layer in two tensors), `vocab_parallel_embedding.py` (in steps of 64). Norms and biases are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kvfence.plan.context import context_of, stretched
from kvfence.plan.families import linear, mla
from kvfence.plan.heads import head_dim, heads_here, key_heads, query_heads
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.parameters import dense_width, expert_count, expert_width, moe_layers, shared_width
from kvfence.plan.quantisation import WeightBytes
from kvfence.plan.setting import Engine, Setting

VOCABULARY_STEP = 64
ROPE_BYTES = {Engine.SGLANG: 4, Engine.VLLM: 2}
"""Of one number in the table of positions: SGLang keeps it in 32 bits on CUDA, vLLM in the model's type
(`layers/rotary_embedding/base.py` of both)."""
PLAIN_BYTES = 2


def of_layers(config: ModelConfig, setting: Setting, sizes: WeightBytes) -> Iterator[int]:
    """Bytes of each tensor of the layers on one GPU's stage, in the order in which they are made."""
    full, recurrent = linear.kinds(config) if linear.matches(config) else (config.layers, 0)
    sparse = moe_layers(config)
    layers, here = config.layers, setting.layers_here(config.layers)
    if full + recurrent != layers:
        recurrent = 0

    @cache  # hundreds of layers, of a few kinds
    def one(*, keeps_state: bool, dense: bool) -> tuple[int, ...]:
        mixer = _recurrent if keeps_state else _mixer
        rest = _dense(config, setting, sizes, dense_width(config)) if dense else _experts(config, setting, sizes)
        return (*mixer(config, setting, sizes), *rest)

    for layer in range(here):
        like = layer * layers // here
        yield from one(keeps_state=like < recurrent, dense=like < layers - sparse)


def of_tables(config: ModelConfig, setting: Setting, sizes: WeightBytes) -> Iterator[int]:
    """Embeddings, and the head where it is not the same."""
    yield from [_table(config, setting, sizes.plain)] * (1 if config.get("tie_word_embeddings") is True else 2)


def _table(config: ModelConfig, setting: Setting, each: float) -> int:
    rows = -(-config.whole("vocab_size") // VOCABULARY_STEP) * VOCABULARY_STEP
    return _size(rows * config.hidden / (setting.tp if setting.attention_tp == setting.tp else 1), each)


def beside(config: ModelConfig, setting: Setting) -> Iterator[int]:
    """What no checkpoint has: the table of positions, a draft's own tables, latent attention's second up-projection.

    A built-in draft makes an embedding and a head of its own; SGLang sizes the pool first and shares the model's after
    (0.5.23 `speculative/eagle_worker_v2.py alloc_memory_pool`, `init_lm_head`; sgl-project/sglang#36452, still open).
    The up-projection: SGLang 0.5.23 `models/deepseek_common/deepseek_weight_loader.py` (`w_kc`, `w_vc`), vLLM 0.32
    `layers/attention/mla_attention.py` (`W_UK_T`, `W_UV`): 16 bits each, whatever the weights have.
    """
    positions = stretched(config, context_of(config, setting))
    width = config.count("qk_rope_head_dim") or head_dim(config)
    yield int(positions * width * _rotated(config)) * ROPE_BYTES[setting.engine]
    if setting.draft_layers and setting.engine is Engine.SGLANG:
        yield from [_table(config, setting, PLAIN_BYTES)] * 2
    if mla.matches(config):
        rank, _ = mla.latent(config)
        heads = query_heads(config) // setting.attention_tp
        for name in ("qk_nope_head_dim", "v_head_dim"):
            size = heads * config.whole(name) * rank * PLAIN_BYTES
            yield from [size] * setting.layers_here(config.layers)


def _rotated(config: ModelConfig) -> float:
    """Which share of a head carries its position."""
    named = config.get("partial_rotary_factor") or config.part("rope_parameters").get("partial_rotary_factor")
    return float(named) if isinstance(named, int | float) and 0 < named <= 1 else 1.0


def _size(numbers: float, each: float) -> int:
    return int(numbers * each)


def _mixer(config: ModelConfig, setting: Setting, sizes: WeightBytes) -> Iterator[int]:
    return _latent(config, setting, sizes) if mla.matches(config) else _plain(config, setting, sizes)


def _plain(config: ModelConfig, setting: Setting, sizes: WeightBytes) -> Iterator[int]:
    width, heads = head_dim(config), query_heads(config) / setting.attention_tp
    values = config.whole("v_head_dim", default=width)
    gate = 2 if config.get("attn_output_gate") is True or config.architecture.startswith("Qwen3Next") else 1
    kept = heads_here(key_heads(config), setting)
    yield _size(config.hidden * (gate * heads * width + kept * (width + values)), sizes.attention)
    yield _size(config.hidden * heads * values, sizes.attention)


def _latent(config: ModelConfig, setting: Setting, sizes: WeightBytes) -> Iterator[int]:
    rank, rope = mla.latent(config)
    heads, values = query_heads(config) / setting.attention_tp, config.whole("v_head_dim")
    plain, query = config.whole("qk_nope_head_dim"), config.count("q_lora_rank")
    numbers = [
        config.hidden * (query + rank + rope),
        heads * (plain + rope) * (query or config.hidden),
        heads * (plain + values) * rank,
        config.hidden * heads * values,
        config.count("index_n_heads") * config.count("index_head_dim") * (query or config.hidden),
    ]
    yield from (_size(number, sizes.attention) for number in numbers)


def _recurrent(config: ModelConfig, setting: Setting, sizes: WeightBytes) -> Iterator[int]:
    """Into the state, and out of it: about three quarters and one."""
    whole = linear.parameters(config) / setting.attention_tp
    yield _size(whole * 3 / 4, sizes.attention)
    yield _size(whole / 4, sizes.attention)


def _dense(config: ModelConfig, setting: Setting, sizes: WeightBytes, width: int) -> Iterator[int]:
    each = config.hidden * width / setting.tp
    yield _size(2 * each, sizes.feed_forward)
    yield _size(each, sizes.feed_forward)


def _experts(config: ModelConfig, setting: Setting, sizes: WeightBytes) -> Iterator[int]:
    over = setting.tp * setting.dp if setting.engine is Engine.VLLM else setting.tp
    each = expert_count(config) * config.hidden * expert_width(config) / over
    yield _size(expert_count(config) * config.hidden, PLAIN_BYTES)
    yield _size(2 * each, sizes.feed_forward)
    yield _size(each, sizes.feed_forward)
    if shared_width(config):
        yield from _dense(config, setting, sizes, shared_width(config))
