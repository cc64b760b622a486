"""What memory SGLang leaves for its KV pool: free memory after the weights, less what the fraction keeps back."""

from __future__ import annotations

from kvfence.findings.forecast import Share
from kvfence.plan.families import mla
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.reserves import taken_at_start
from kvfence.plan.setting import Role, Setting
from kvfence.plan.weights import GIB, Weights

MIB = 1 << 20
SOURCE = "SGLang 0.5.23 kv_cache_configurator.py _profile_available_bytes"
DEFAULT_SOURCE = "SGLang 0.5.23 arg_groups/memory_hook.py handle_gpu_memory_settings"
_TIERS = ((20, 2048, 8, 8), (35, 4096, 48, 160), (60, 4096, 32, 160), (160, 8192, 256, 512))
"""GPU memory below GiB: chunk, largest decode graph with tp below 4, and from 4 on."""
_LARGEST = (16384, 512, 512)
PARALLEL_FROM = 4
BIG_GPU_MIB = 60 * 1024
BIG_GPU_RESERVE_MIB = 10 * 1024


def budget(config: ModelConfig, setting: Setting, weights: Weights) -> tuple[Share, ...]:
    """The shares of one GPU's memory; the last is what is left for the pool.

    `rest = free after weights - free before weights * (1 - fraction)` (SGLang 0.5.23
    `mem_cache/kv_cache_configurator.py _profile_available_bytes`), in GiB that its log calls GB.
    """
    if setting.measured.available_kv_gib is not None:
        return (Share(name="left for the pool", **_exact(setting.measured.available_kv_gib), source="the log"),)
    before = _free_before(setting)
    after = _free_after(before, setting, weights)
    kept = 1 - fraction(config, setting)
    held = Share(
        name="kept back for activations and graphs",
        low=before.low * kept,
        likely=before.likely * kept,
        high=before.high * kept,
        source=SOURCE if setting.fraction is not None else DEFAULT_SOURCE,
    )
    weighed = Share(name="weights", low=weights.low, likely=weights.likely, high=weights.high, source=weights.source)
    rest = Share(
        name="left for the pool",
        low=max(after.low - before.low * kept, 0),
        likely=max(after.likely - before.likely * kept, 0),
        high=max(after.high - before.high * kept, 0),
        source=SOURCE,
    )
    return before, weighed, held, rest


def _free_before(setting: Setting) -> Share:
    """Free before the weights: what CUDA reports, less its context and the communicators' buffers.

    Their size is in no config and in no formula: measured on servers whose logs are public (`reserves.py`).
    """
    told = setting.measured.free_before_gib
    if told is not None:
        return Share(name="free before weights", **_exact(told), source="the log")
    low, likely, high = setting.gpu.cuda_bytes
    taken = taken_at_start(setting)
    return Share(
        name="free before weights",
        low=low - min(taken.high, low / 4),
        likely=likely - min(taken.likely, likely / 8),
        high=high - min(taken.low, high / 16),
        source=f"{likely / GIB:.2f} GiB of {setting.gpu.memory_mib} MiB for CUDA, less {taken.source}",
    )


def _free_after(before: Share, setting: Setting, weights: Weights) -> Share:
    told = setting.measured.free_after_gib
    if told is not None:
        return Share(name="free after weights", **_exact(told), source="the log")
    return Share(
        name="free after weights",
        low=before.low - weights.high,
        likely=before.likely - weights.likely,
        high=before.high - weights.low,
        source=weights.source,
    )


def _exact(gib: float) -> dict[str, float]:
    return {"low": gib * GIB, "likely": gib * GIB, "high": gib * GIB}


def fraction(config: ModelConfig, setting: Setting) -> float:
    """The fraction given, or the one that SGLang takes by itself."""
    return default_fraction(config, setting) if setting.fraction is None else setting.fraction


def default_fraction(config: ModelConfig, setting: Setting) -> float:
    """`round((memory - reserve) / memory, 3)`; prefill and decode reserve for different things, so they differ.

    SGLang 0.5.23 `arg_groups/memory_hook.py handle_gpu_memory_settings` and `reserve_for_graph_mb`, without what
    multimodal models and DeepEP add.
    """
    memory = setting.gpu.memory_mib
    reserve = 512 + 1.5 * _activation_tokens(setting) + setting.tp * setting.pp / 8 * 1024
    reserve += _graph_reserve_mib(config, setting)
    if memory > BIG_GPU_MIB:
        reserve = max(reserve, BIG_GPU_RESERVE_MIB)
    return round(max(memory - reserve, 0) / memory, 3)


def chunk_tokens(setting: Setting) -> int:
    """`--chunked-prefill-size`, or the default for this much memory."""
    return setting.chunk or _tier(setting)[0]


def _tier(setting: Setting) -> tuple[int, int]:
    """Chunk and largest decode graph by memory (SGLang 0.5.23 `arg_groups/memory_hook.py`)."""
    at = next((tier[1:] for tier in _TIERS if setting.gpu.memory_mib < tier[0] * 1024), _LARGEST)
    return at[0], at[1] if setting.tp < PARALLEL_FROM else at[2]


def _graph_batch(setting: Setting) -> int:
    largest = _tier(setting)[1]
    return min(largest, setting.running) if setting.running else largest


def _activation_tokens(setting: Setting) -> int:
    if setting.role is Role.DECODE:
        return max((setting.running or _graph_batch(setting)) * max(setting.draft_layers, 1), 2048)
    return max(chunk_tokens(setting), 2048)


def _graph_reserve_mib(config: ModelConfig, setting: Setting) -> float:
    """Decode graphs by batch, more with attention DP; prefill graphs, which MLA makes dearer."""
    batch = _graph_batch(setting)
    reserve = 0.0
    if setting.role is not Role.PREFILL:
        reserve += batch * 2
        if setting.dp > 1:
            reserve += batch * setting.dp * (4.5 if batch > 300 else 3)  # noqa: PLR2004 — SGLang's own step
    if setting.role is not Role.DECODE:
        reserve += 1.5 * 1024 if mla.matches(config) else 8 * _prefill_graphs(chunk_tokens(setting))
    return reserve


def _prefill_graphs(tokens: int) -> int:
    """How many sizes are captured up to so many tokens (SGLang 0.5.23 `generate_prefill_cuda_graph_batch_sizes`)."""
    steps = ((4, 32, 4), (48, 256, 16), (288, 512, 32), (576, 1024, 64), (1280, 4096, 256), (4608, tokens, 512))
    return sum(len(range(first, min(last, tokens) + 1, step)) for first, last, step in steps)
