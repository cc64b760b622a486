"""What vLLM keeps back beside the weights: the peak of a profile run, and what its libraries take outside PyTorch.

vLLM has no formula: it runs a full batch through the model, samples for as many requests as it takes at once, and
measures. What of that run is large can be read in its source, and it is not the same in every release:

- *Sampling.* Up to 0.16 the run sorts the logits of all requests in PyTorch (vLLM 0.10.0 and 0.16.0
  `v1/sample/ops/topk_topp_sampler.py apply_top_k_top_p`, called by `gpu_model_runner.py _dummy_sampler_run`), which
  takes nineteen times the logits themselves. From 0.17 on a kernel of its own does it in place.
- *Communicators.* Before 0.11 vLLM took its first measure of free memory before NCCL was set up, so what NCCL took
  was charged; since then it is there before (`v1/worker/gpu_worker.py init_device` of 0.10.2 and 0.11.0).
- *CUDA graphs* are charged since 0.21 (`VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS`).

Layers are counted by a rule of thumb, and the spread says so.
"""

from __future__ import annotations

from kvfence.findings.forecast import Share
from kvfence.plan.families import mla
from kvfence.plan.heads import query_heads
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.reserves import MEASURED, Links, links_of
from kvfence.plan.setting import Setting
from kvfence.plan.weights import GIB

BATCHES = ((160 * GIB, 16384, 1024), (70 * GIB, 8192, 1024), (0, 2048, 256))
"""From so much memory on: tokens and requests of a batch where none are given (vLLM 0.32 `engine/arg_utils.py`)."""
SORTED_BYTES = 2 + 4 + (4 + 8) + 8 + (4 + 8)
"""Of one logit while it is sorted: the model's own and the copy in 32 bits; values and 64-bit indices that come out;
the indices that go in; the other half of CUB's double buffers (PyTorch `aten/src/ATen/native/cuda/SortStable.cu
segmented_sort_pairs`). Where FlashInfer is installed, 0.8 to 0.11 do not sort: that is the low figure.
"""
FUSED_BYTES = 12
"""The same without a sort, at most: the model's own, a copy in 32 bits, probabilities."""
NO_SORT_FROM = (0, 17)
LINKS_FIRST_FROM = (0, 11)
OUTSIDE = 0.2 * GIB
"""Libraries' own memory on one GPU."""
OUTSIDE_TOGETHER = 1.0 * GIB
"""The same, and what links to other GPUs take later than at start-up."""


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


def kept_back(config: ModelConfig, setting: Setting) -> Share:
    """The profile run's peak, in its widest layer or in sampling, and what is outside PyTorch."""
    tokens, logits = batched_tokens(setting), requests_at_once(setting) * config.whole("vocab_size")
    layer = 2 * _widest_layer(config, setting, tokens)
    name = "activations, outside PyTorch, graphs"
    if setting.release is None or setting.release >= NO_SORT_FROM:
        likely = max(layer, FUSED_BYTES * logits) + (OUTSIDE if setting.tp == 1 else OUTSIDE_TOGETHER)
        source = "a rule of thumb: vLLM measures it in a profile run"
        return Share(name=name, low=likely * 0.4, likely=likely, high=likely * 1.8 + 1.2 * GIB, source=source)
    sampling, outside = SORTED_BYTES * logits + 2 * tokens * config.hidden, OUTSIDE + _charged_links(setting)
    return Share(
        name=name,
        low=0.4 * (max(layer, FUSED_BYTES * logits) + outside),
        likely=max(layer, sampling) + outside,
        high=max(1.8 * layer, sampling) + 1.8 * outside + 1.2 * GIB,
        source=f"a profile run that sorts {logits:,} logits, as vLLM before 0.17 does; layers by a rule of thumb",
    )


def _widest_layer(config: ModelConfig, setting: Setting, tokens: int) -> int:
    """Numbers that are held at once."""
    chosen = config.count("num_experts_per_tok") or 1
    width = config.count("moe_intermediate_size", "intermediate_size", "ffn_hidden_size") or 4 * config.hidden
    layer = tokens * (4 * config.hidden + chosen * (3 * width // setting.tp + (config.hidden if chosen > 1 else 0)))
    if mla.matches(config):
        layer += tokens * query_heads(config) // setting.tp * 512
    return layer


def _charged_links(setting: Setting) -> float:
    if setting.release is None or setting.release >= LINKS_FIRST_FROM:
        return 0
    return max(MEASURED[links_of(setting)].likely - MEASURED[Links.ALONE].likely, 0) * GIB
