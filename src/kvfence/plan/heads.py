"""Attention heads over GPUs: what one GPU keeps, and when they cannot be split."""

from __future__ import annotations

from kvfence.errors import UsageError
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Setting


def query_heads(config: ModelConfig) -> int:
    """All query heads of a layer."""
    return config.whole("num_attention_heads", "n_head", "num_heads")


def key_heads(config: ModelConfig) -> int:
    """All key-value heads of a layer; as many as query heads where the config says nothing (MHA)."""
    if config.get("multi_query") is True:
        return 1
    return config.whole("num_key_value_heads", "num_kv_heads", "n_head_kv", default=query_heads(config))


def head_dim(config: ModelConfig) -> int:
    """Width of a head: told, or hidden size over heads (SGLang `ModelConfig.head_dim`, vLLM `get_head_size`)."""
    if config.get("head_dim") is not None:
        return config.whole("head_dim")
    hidden, heads = config.hidden, query_heads(config)
    if hidden % heads:
        raise UsageError(f"{config.file}: hidden_size {hidden} is no multiple of {heads} heads; give head_dim in it")
    return hidden // heads


def heads_here(total: int, setting: Setting) -> int:
    """KV heads that one GPU keeps: a share of them, or a copy of one.

    SGLang 0.5.23 `configs/model_config.py get_num_kv_heads`, vLLM 0.32 `config/model.py get_num_kv_heads`:
    `max(1, heads // tp)`.
    """
    return max(1, total // setting.attention_tp)


def check_split(config: ModelConfig, setting: Setting) -> None:
    """Raise `UsageError` where the engine would not start: heads that cannot be split over the GPUs."""
    split = setting.attention_tp
    heads, kept = query_heads(config), key_heads(config)
    if heads % split:
        raise UsageError(f"{setting.parallelism}: {heads} heads cannot be split over {split} GPUs{_hint(heads)}")
    if max(kept, split) % min(kept, split):
        raise UsageError(f"{setting.parallelism}: {kept} KV heads cannot be split over {split} GPUs{_hint(heads)}")


def _hint(heads: int) -> str:
    fit = [str(parts) for parts in range(1, min(heads, 64) + 1) if heads % parts == 0]
    return f"; give a --tp of {', '.join(fit)} (over --dp, for SGLang)"
