"""What memory vLLM leaves for its KV cache: a share of all memory, less weights and what a profile run peaks at."""

from __future__ import annotations

from kvfence.findings.forecast import Share
from kvfence.plan.families import mla
from kvfence.plan.heads import query_heads
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Setting
from kvfence.plan.weights import GIB, Weights

SOURCE = "vLLM 0.32 v1/worker/gpu_worker.py determine_available_memory"
DEFAULT_FRACTION = 0.92
"""`--gpu-memory-utilization` where it is not given (vLLM 0.32 `config/cache.py`; 0.9 before 0.23)."""
BATCHES = ((160 * GIB, 16384, 1024), (70 * GIB, 8192, 1024), (0, 2048, 256))
"""From so much memory on: tokens and requests of a batch where none are given (vLLM 0.32 `engine/arg_utils.py`)."""


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
    peak = _peak(config, setting)
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
    return DEFAULT_FRACTION if setting.fraction is None else setting.fraction


def _allowed(setting: Setting) -> Share:
    """A share of all that CUDA reports (vLLM 0.32 `v1/worker/utils.py request_memory`), which a driver hides a part of.

    The context and the communicators are there before vLLM takes its first measure, so they are not charged.
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


def batched_tokens(setting: Setting) -> int:
    """`--max-num-batched-tokens`, or the server's default for this GPU."""
    return setting.chunk or _batch(setting)[0]


def requests_at_once(setting: Setting) -> int:
    """`--max-num-seqs`, or the server's default for this GPU."""
    return setting.running or _batch(setting)[1]


def _batch(setting: Setting) -> tuple[int, int]:
    """By memory; an A100 counts as small (vLLM 0.32 `EngineArgs.get_batch_defaults`)."""
    if setting.gpu.name == "a100":
        return BATCHES[-1][1:]
    return next(row[1:] for row in BATCHES if setting.gpu.memory_bytes >= row[0])


def _peak(config: ModelConfig, setting: Setting) -> Share:
    """The profile run's peak: the widest layer over a full batch, or sampling over all requests; and what is outside.

    No formula in vLLM: it is measured there. This one is a rule of thumb, and its spread says so.
    """
    tokens, requests = batched_tokens(setting), requests_at_once(setting)
    chosen = config.count("num_experts_per_tok") or 1
    width = config.count("moe_intermediate_size", "intermediate_size", "ffn_hidden_size") or 4 * config.hidden
    layer = tokens * (4 * config.hidden + chosen * (3 * width // setting.tp + (config.hidden if chosen > 1 else 0)))
    if mla.matches(config):
        layer += tokens * query_heads(config) // setting.tp * 512
    sampling = requests * config.whole("vocab_size") * 6
    likely = 2 * max(layer, sampling) + (0.2 if setting.tp == 1 else 1.0) * GIB
    return Share(
        name="activations, outside PyTorch, graphs",
        low=likely * 0.4,
        likely=likely,
        high=likely * 1.8 + 1.2 * GIB,
        source="a rule of thumb: vLLM measures it in a profile run",
    )
