"""Which family of attention a config is of, and what its layers keep.

A config is known by its values, not by its name: a new model of an old family works, and a new way to keep tokens is
refused by the values that only it has, rather than counted as something else.
"""

from __future__ import annotations

from kvfence.errors import UsageError
from kvfence.plan.cache import Cache, Keeps, Layers
from kvfence.plan.families import draft, dsa, gqa, linear, mla, sliding
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Setting

_NOT_KNOWN = {
    "compress_ratios": "compressed attention (DeepSeek-V4)",
    "sparse_attention_config": "sparse attention of its own",
    "attn_type_list": "lightning attention",
    "qsa_config": "sparse attention of its own",
    "block_configs": "layers that differ one by one",
    "num_kv_shared_layers": "layers that share their keys",
    "cla_share_factor": "layers that share their keys",
    "cross_attention_layers": "cross attention",
}
"""Values that change what is kept, in ways that are not counted here, and what they mean."""
_KINDS_KNOWN = {
    "attention",
    "chunked_attention",
    "full_attention",
    "hybrid",
    "linear_attention",
    "mamba",
    "sliding_attention",
}


def cache_of(config: ModelConfig, setting: Setting) -> Cache:
    """What the model's layers keep.

    Raises:
        UsageError: its way to keep tokens is not known; the message says what is unknown and what to give.
    """
    _refuse_unknown(config)
    if dsa.matches(config):
        cache = Cache(dsa.NAME, dsa.layers(config, setting))
    elif linear.matches(config):
        cache = Cache(linear.NAME, linear.layers(config, setting))
    elif mla.matches(config):
        cache = Cache(mla.NAME, mla.layers(config, setting))
    elif sliding.matches(config):
        cache = _windowed(config, setting)
    else:
        cache = Cache(gqa.NAME, gqa.layers(config, setting))
    return draft.with_builtin(cache, setting)


def given(token_bytes: int) -> Cache:
    """What the user says that one token costs on one GPU."""
    some = Layers(name="given", keeps=Keeps.FULL, count=1, token_bytes=token_bytes, source="--kv-bytes-per-token")
    return Cache("given", (some,))


def _windowed(config: ModelConfig, setting: Setting) -> Cache:
    cache = Cache(sliding.NAME, sliding.layers(config, setting))
    if cache.of(Keeps.WINDOW):
        return cache
    note = f"{setting.engine} keeps every token in the layers with a window too" + (
        "" if not setting.hybrid else f": {config.architecture} is not among those with a second pool"
    )
    return Cache(sliding.NAME, cache.layers, (note,))


def _refuse_unknown(config: ModelConfig) -> None:
    give = "give what one token costs on one GPU: --kv-bytes-per-token N"
    for name, meaning in _NOT_KNOWN.items():
        if config.get(name):
            raise UsageError(
                f"{config.file}: {config.architecture} has {meaning} ({name}), which is not known here; {give}"
            )
    strange = sorted(set(config.words("layer_types")) - _KINDS_KNOWN)
    if strange:
        raise UsageError(f"{config.file}: layers of kind {strange[0]!r} are not known here; {give}")
    if config.get("is_encoder_decoder") is True:
        raise UsageError(f"{config.file}: {config.architecture} has an encoder, whose cache is not known here; {give}")
    if config.get("num_attention_heads", "n_head", "num_heads") is None:
        raise UsageError(
            f"{config.file}: {config.architecture} names no attention heads, so its family is unknown; {give}"
        )
