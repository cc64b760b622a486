"""What memory vLLM leaves for its KV cache: a share of all memory, less weights and what a profile run peaks at."""

from __future__ import annotations

from kvfence.findings.forecast import Share
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Setting
from kvfence.plan.vllm_profile import kept_back
from kvfence.plan.weights import GIB, Weights

SOURCE = "vLLM 0.32 v1/worker/gpu_worker.py determine_available_memory"
DEFAULT_FRACTION = 0.92
"""`--gpu-memory-utilization` where it is not given (vLLM 0.32 `config/cache.py`)."""
DEFAULT_FRACTION_BEFORE_023 = 0.9


def budget(config: ModelConfig, setting: Setting, weights: Weights) -> tuple[Share, ...]:
    """The shares of one GPU's memory; the last is what is left for the cache.

    `total * utilization - (weights + peak of activations + outside PyTorch [+ graphs])`
    (vLLM 0.32 `v1/worker/gpu_worker.py determine_available_memory`).
    """
    told = setting.measured.available_kv_gib
    if told is not None:
        sure = told * GIB
        return (Share(name="left for the cache", low=sure, likely=sure, high=sure, source="the log"),)
    allowed = _allowed(setting)
    weighed = Share(name="weights", low=weights.low, likely=weights.likely, high=weights.high, source=weights.source)
    peak = kept_back(config, setting)
    rest = Share(
        name="left for the cache",
        low=max(allowed.low - weighed.high - peak.high, 0),
        likely=max(allowed.likely - weighed.likely - peak.likely, 0),
        high=max(allowed.high - weighed.low - peak.low, 0),
        source=SOURCE,
    )
    return allowed, weighed, peak, rest


def fraction(setting: Setting) -> float:
    """The utilization given, or vLLM's own."""
    if setting.fraction is not None:
        return setting.fraction
    old = setting.release is not None and setting.release < (0, 23)
    return DEFAULT_FRACTION_BEFORE_023 if old else DEFAULT_FRACTION


def _allowed(setting: Setting) -> Share:
    """A share of all that CUDA reports (vLLM 0.32 `v1/worker/utils.py request_memory`), which a driver hides a part of.

    The context is there before vLLM takes its first measure, so it is not charged; since 0.11 the communicators too.
    """
    share = fraction(setting)
    low, likely, high = setting.gpu.cuda_bytes
    return Share(
        name="allowed by the utilization",
        low=share * low,
        likely=share * likely,
        high=share * high,
        source=f"{share:g} of {likely / GIB:.2f} GiB for CUDA of {setting.gpu.memory_mib} MiB ({setting.gpu.source})",
    )
