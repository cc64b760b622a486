"""What the engines' flags set: one table for logs, which repeat a command, and for commands themselves.

Names are written as the engines' settings are: without dashes and with underscores. Sources: SGLang 0.5.10 to 0.5.23
(`server_args.py`, `arg_groups/fields/`), vLLM 0.6 to 0.32 (`engine/arg_utils.py`, `entrypoints/openai/cli_args.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from kvfence.facts.fact import Engine


class Kind(Enum):
    """What a flag's value is."""

    NUMBER = auto()
    FRACTION = auto()
    """Kept as it is written: a fact is text, a whole number, or a truth."""
    TEXT = auto()
    SWITCH = auto()
    """There or not; it takes no value."""
    SECRET = auto()
    """Only that it is there is a fact."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The fact that a setting is reported as, and what its value is."""

    fact: str
    kind: Kind = Kind.NUMBER


SGLANG_ALIASES: Mapping[str, str] = {
    "tp": "tp_size",
    "tensor_parallel_size": "tp_size",
    "pp": "pp_size",
    "pipeline_parallel_size": "pp_size",
    "dp": "dp_size",
    "data_parallel_size": "dp_size",
    "model": "model_path",
    "enable_hicache": "enable_hierarchical_cache",
    "speculative_draft_model": "speculative_draft_model_path",
}
SGLANG: Mapping[str, Setting] = {
    "disaggregation_mode": Setting("role", Kind.TEXT),
    "context_length": Setting("context_length"),
    "page_size": Setting("page_size"),
    "max_total_tokens": Setting("pool_cap_tokens"),
    "kv_cache_dtype": Setting("kv_dtype", Kind.TEXT),
    "tp_size": Setting("tp_size"),
    "dp_size": Setting("dp_size"),
    "pp_size": Setting("pp_size"),
    "mem_fraction_static": Setting("mem_fraction", Kind.FRACTION),
    "quantization": Setting("quantization", Kind.TEXT),
    "attention_backend": Setting("attention_backend", Kind.TEXT),
    "disaggregation_transfer_backend": Setting("transfer_backend", Kind.TEXT),
    "kv_canary": Setting("kv_canary", Kind.TEXT),
    "disaggregation_enable_kv_checksum": Setting("kv_checksum", Kind.SWITCH),
    "allow_auto_truncate": Setting("allow_auto_truncate", Kind.SWITCH),
    "enable_hierarchical_cache": Setting("hicache", Kind.SWITCH),
    "model_path": Setting("model", Kind.TEXT),
    "speculative_draft_model_path": Setting("draft_model", Kind.TEXT),
    "device": Setting("device", Kind.TEXT),
    "host": Setting("host", Kind.TEXT),
    "port": Setting("port"),
    "disaggregation_bootstrap_port": Setting("bootstrap_port"),
    "api_key": Setting("api_key", Kind.SECRET),
}
SGLANG_SWITCHES = frozenset(
    {name for name, setting in SGLANG.items() if setting.kind is Kind.SWITCH}
    | {"enable_dp_attention", "enable_dp_lm_head", "disable_cuda_graph", "disable_radix_cache", "trust_remote_code"}
    | {"enable_metrics", "skip_tokenizer_init", "skip_server_warmup", "disable_overlap_schedule", "enable_mixed_chunk"}
)
"""Complete without a value, as far as known; any other flag without one was cut off, or is not for us to read."""

VLLM_ALIASES: Mapping[str, str] = {
    "tp": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "dp": "data_parallel_size",
    "q": "quantization",
}
VLLM: Mapping[str, Setting] = {
    "max_model_len": Setting("context_length"),
    "block_size": Setting("page_size"),
    "kv_cache_dtype": Setting("kv_dtype", Kind.TEXT),
    "tensor_parallel_size": Setting("tp_size"),
    "pipeline_parallel_size": Setting("pp_size"),
    "data_parallel_size": Setting("dp_size"),
    "gpu_memory_utilization": Setting("mem_fraction", Kind.FRACTION),
    "quantization": Setting("quantization", Kind.TEXT),
    "attention_backend": Setting("attention_backend", Kind.TEXT),
    "model": Setting("model", Kind.TEXT),
    "model_tag": Setting("model", Kind.TEXT),
    "device": Setting("device", Kind.TEXT),
    "host": Setting("host", Kind.TEXT),
    "port": Setting("port"),
    "api_key": Setting("api_key", Kind.SECRET),
}
VLLM_SWITCHES = frozenset(
    {"enforce_eager", "enable_prefix_caching", "no_enable_prefix_caching", "trust_remote_code"}
    | {"enable_expert_parallel", "enable_auto_tool_choice", "disable_log_requests"}
    | {"enable_chunked_prefill", "no_enable_chunked_prefill"}
)


def settings_of(engine: Engine) -> Mapping[str, Setting]:
    """What each of an engine's settings is reported as."""
    return SGLANG if engine is Engine.SGLANG else VLLM


def switches_of(engine: Engine) -> frozenset[str]:
    """Which flags take no value, as far as known."""
    return SGLANG_SWITCHES if engine is Engine.SGLANG else VLLM_SWITCHES


def canonical(engine: Engine, flag: str) -> str:
    """The engine's own name for a flag, given with or without dashes."""
    name = flag.lstrip("-").replace("-", "_")
    aliases = SGLANG_ALIASES if engine is Engine.SGLANG else VLLM_ALIASES
    return aliases.get(name, name)
