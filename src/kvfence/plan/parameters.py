"""A model's weights counted from its config, by how they are split over GPUs.

A count of matrices, norms and biases left out (well under 1 % of a model); it is used where neither an index of the
weights nor their size is given, and for telling how a known size is split.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvfence.plan.families import linear, mla, sliding
from kvfence.plan.heads import head_dim, key_heads, query_heads
from kvfence.plan.model_config import ModelConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """How many numbers a model has, by kind."""

    attention: int
    replicated: int
    """Of attention, what each GPU keeps whole: down projections of latent attention, the indexer."""
    experts: int
    dense: int
    """Feed-forward parts that are no routed experts, and the parts of a vision model."""
    embedding: int
    draft: int
    """Layers for drafts (MTP) in the same checkpoint; an engine loads them only when it drafts."""

    @property
    def served(self) -> int:
        """All but the drafts'."""
        return self.attention + self.replicated + self.experts + self.dense + self.embedding


def count(config: ModelConfig) -> Parameters:
    """The parameters of a config, as its public model card has them within some percent."""
    layers, hidden = config.layers, config.hidden
    sparse = moe_layers(config)
    attention, replicated = _attention(config)
    experts = sparse * _experts(config)
    dense = (layers - sparse) * _feed_forward(config, dense_width(config)) + sparse * _shared(config)
    drafts = config.count("num_nextn_predict_layers", "mtp_num_hidden_layers")
    a_layer = (attention + replicated) // layers + (_experts(config) + _shared(config) if sparse else dense // layers)
    tables = 1 if config.get("tie_word_embeddings") is True else 2
    return Parameters(
        attention=attention,
        replicated=replicated,
        experts=experts,
        dense=dense + _vision(config),
        embedding=tables * config.whole("vocab_size") * hidden,
        draft=drafts * (a_layer + 2 * hidden * hidden),
    )


def moe_layers(config: ModelConfig) -> int:
    """Layers with routed experts: all, but for the first dense ones, those named, or each n-th only."""
    if not expert_count(config):
        return 0
    pattern = config.words("hybrid_override_pattern")
    if pattern:
        return pattern.count("E")
    rest = config.layers - config.count("first_k_dense_replace") - len(config.words("mlp_only_layers"))
    frequency = config.get("moe_layer_freq")
    if isinstance(frequency, list):
        return sum(map(bool, frequency[: config.layers]))
    step = config.get("decoder_sparse_step", "interleave_moe_layer_step")
    return max(rest // step if isinstance(step, int) and step > 0 else rest, 0)


def expert_count(config: ModelConfig) -> int:
    """Routed experts of a layer; 0 without."""
    return config.count("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")


def expert_width(config: ModelConfig) -> int:
    """Inner width of one routed expert."""
    return config.count("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size", "ffn_hidden_size")


def _experts(config: ModelConfig) -> int:
    number = expert_count(config)
    return number * (_feed_forward(config, expert_width(config)) + config.hidden) if number else 0


def shared_width(config: ModelConfig) -> int:
    """Inner width of what every token takes beside the routed experts; 0 without.

    Gemma 4 keeps its whole feed-forward part there: vLLM 0.19 and SGLang `models/gemma4*.py Gemma4DecoderLayer`.
    """
    if config.get("enable_moe_block") is True:
        return dense_width(config)
    width = config.count("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
    if not width and config.count("n_shared_experts"):
        width = config.count("n_shared_experts") * config.count("moe_intermediate_size", "intermediate_size")
    return width


def _shared(config: ModelConfig) -> int:
    return _feed_forward(config, shared_width(config))


def dense_width(config: ModelConfig) -> int:
    """Inner width of a feed-forward part without experts."""
    return config.count("intermediate_size_mlp", "intermediate_size", "ffn_hidden_size", "n_inner") or 4 * config.hidden


def _feed_forward(config: ModelConfig, width: int) -> int:
    """Three matrices where the activation is gated, which is the rule; two for those that name a plain one."""
    plain = str(config.get("hidden_act", "mlp_hidden_act", "activation_function") or "silu")
    matrices = 2 if plain in {"relu2", "gelu_new", "relu"} else 3
    return matrices * config.hidden * width


def _attention(config: ModelConfig) -> tuple[int, int]:
    """Split over GPUs, and kept whole by each, over all layers."""
    if linear.matches(config):
        full, recurrent = linear.kinds(config)
        split, whole = _one_attention(config)
        return full * split + recurrent * linear.parameters(config), full * whole
    split, whole = _one_attention(config)
    if sliding.matches(config) and config.get("global_head_dim") is not None:
        full = sliding.full_layers(config)
        return (config.layers - full) * split + full * _global(config), config.layers * whole
    if sliding.matches(config) and config.get("swa_num_key_value_heads") is not None:
        split = (split + _plain(config, config.whole("swa_num_key_value_heads"))) // 2
    return config.layers * split, config.layers * whole


def _one_attention(config: ModelConfig) -> tuple[int, int]:
    return _latent(config) if mla.matches(config) else (_plain(config, key_heads(config)), 0)


def _plain(config: ModelConfig, kept: int) -> int:
    width, heads = head_dim(config), query_heads(config)
    values = config.whole("v_head_dim", default=width)
    gate = 2 if config.get("attn_output_gate") is True or config.architecture.startswith("Qwen3Next") else 1
    return config.hidden * (gate * heads * width + heads * values + kept * (width + values))


def _global(config: ModelConfig) -> int:
    """Of a full layer of Gemma 4, whose heads are wider than those with a window; vLLM `models/gemma4.py`."""
    width, kept = config.whole("global_head_dim"), config.whole("num_global_key_value_heads", default=key_heads(config))
    return config.hidden * 2 * width * (query_heads(config) + kept)


def _latent(config: ModelConfig) -> tuple[int, int]:
    rank, rope = mla.latent(config)
    heads, values = query_heads(config), config.whole("v_head_dim")
    plain = config.whole("qk_nope_head_dim")
    query = config.count("q_lora_rank")
    up = heads * (plain + rope) * (query or config.hidden) + rank * heads * (plain + values)
    indexer = config.count("index_n_heads") * config.count("index_head_dim") * (query or config.hidden)
    whole = config.hidden * (query + rank + rope) + indexer
    return up + heads * values * config.hidden, whole


def _vision(config: ModelConfig) -> int:
    """A vision transformer beside the language model; its engine loads it whether pictures come or not."""
    part = config.part("vision_config")
    width, depth = (_number(part, *names) for names in (("hidden_size", "embed_dim"), ("num_hidden_layers", "depth")))
    inner = _number(part, "intermediate_size") or 4 * width
    return depth * (4 * width * width + 2 * width * inner) + _mergers(part, width)


def _mergers(part: Mapping[str, object], width: int) -> int:
    """Qwen's: from so many patches into one of the language model's width, once and at each deep-stacked layer.

    SGLang 0.5.23 `models/qwen3_vl.py Qwen3VLMoeVisionPatchMerger`.
    """
    merged = width * _number(part, "spatial_merge_size") ** 2
    stacked = part.get("deepstack_visual_indexes")
    times = 1 + (len(stacked) if isinstance(stacked, list) else 0)
    return times * merged * (merged + _number(part, "out_hidden_size"))


def _number(part: object, *names: str) -> int:
    values = [part.get(name) for name in names] if isinstance(part, dict) else []
    return next((value for value in values if isinstance(value, int) and value > 0), 0)
