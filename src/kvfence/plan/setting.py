"""How a model is to be served: engine, GPUs, parallelism, dtype, fraction. Parsed once; a change is another value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from kvfence.errors import UsageError
from kvfence.plan.gpus import Gpu

_RELEASE = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?![0-9])", re.ASCII)


class Engine(StrEnum):
    """Whose arithmetic is used."""

    SGLANG = "sglang"
    VLLM = "vllm"


class Role(StrEnum):
    """What a worker does; prefill and decode keep different reserves, so their pools differ."""

    UNIFIED = "unified"
    PREFILL = "prefill"
    DECODE = "decode"


class KvDtype(StrEnum):
    """The type of a cached number. `auto` is 16 bits, as both engines take a 16-bit model's own type."""

    AUTO = "auto"
    BF16 = "bf16"
    FP8_E4M3 = "fp8_e4m3"
    FP8_E5M2 = "fp8_e5m2"

    @property
    def bytes(self) -> int:
        """Of one number."""
        return 1 if self.value.startswith("fp8") else 2


def release_of(version: str) -> tuple[int, int]:
    """`0.10.2`, `v0.10.2rc1` or `0.10` as (0, 10).

    Raises:
        UsageError: it does not begin with two numbers.
    """
    found = _RELEASE.match(version)
    if not found:
        raise UsageError(f"--engine-version {version}: give it as the engine logs it, such as 0.10.2")
    return int(found[1]), int(found[2])


@dataclass(frozen=True, slots=True)
class Measured:
    """What a log said of one GPU's memory, in GiB; it stands in for what would be estimated."""

    free_before_gib: float | None = None
    """SGLang: `Load weight begin. avail mem=`."""
    free_after_gib: float | None = None
    """SGLang: `Load weight end. … avail mem=`."""
    available_kv_gib: float | None = None
    """vLLM: `Available KV cache memory:`; SGLang: the sizes of all pools together."""
    weights_gib: float | None = None
    """One GPU's weights: SGLang `mem usage=`, vLLM `Model loading took`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One worker's setting."""

    engine: Engine
    gpu: Gpu
    per_node: int = 8
    nodes: int = 1
    tp: int = 1
    dp: int = 1
    """SGLang: attention DP inside the tensor-parallel group. vLLM: copies of the engine."""
    pp: int = 1
    kv_dtype: KvDtype = KvDtype.AUTO
    release: tuple[int, int] | None = None
    """Of vLLM, as (0, 10): older ones keep more back. None is the one whose source the formulas are from."""
    fraction: float | None = None
    """`--mem-fraction-static` or `--gpu-memory-utilization`; none is the engine's own default."""
    role: Role = Role.UNIFIED
    page_size: int | None = None
    context: int | None = None
    chunk: int | None = None
    """SGLang `--chunked-prefill-size`, vLLM `--max-num-batched-tokens`."""
    running: int | None = None
    """SGLang `--max-running-requests`, vLLM `--max-num-seqs`."""
    pool_cap: int | None = None
    """SGLang `--max-total-tokens`."""
    swa_ratio: float | None = None
    mamba_ratio: float = 0.9
    hybrid: bool = True
    """False: windows are kept in full (`--disable-hybrid-swa-memory`, `--disable-hybrid-kv-cache-manager`)."""
    radix: bool = True
    """Whether prefixes are cached; SGLang's decode worker does not."""
    draft_layers: int = 0
    """Layers of a built-in draft (MTP, NEXTN, EAGLE) that keep KV like the model's own."""
    draft_tokens: int = 0
    """Tokens that are guessed ahead: vLLM keeps a state for each (`num_speculative_tokens`)."""
    measured: Measured = Measured()

    def __post_init__(self) -> None:
        if self.gpus_needed > self.per_node * self.nodes:
            raise UsageError(
                f"{self.parallelism} needs {self.gpus_needed} GPUs and --count {self.per_node} * --nodes {self.nodes} "
                f"gives {self.per_node * self.nodes}; lower the parallelism or give more"
            )
        if self.engine is Engine.SGLANG and self.release is not None:
            raise UsageError("--engine-version is for --engine vllm; leave it out, SGLang's formula is that of 0.5.23")
        if self.engine is Engine.SGLANG and self.tp % self.dp:
            raise UsageError(f"--tp {self.tp} is no multiple of --dp {self.dp}; SGLang splits attention inside tp")

    @property
    def attention_tp(self) -> int:
        """Over how many GPUs one layer's heads are split."""
        return self.tp // self.dp if self.engine is Engine.SGLANG else self.tp

    @property
    def gpus_needed(self) -> int:
        """GPUs of one worker; of all copies for vLLM's data parallelism."""
        copies = self.dp if self.engine is Engine.VLLM else 1
        return self.tp * self.pp * copies

    @property
    def parallelism(self) -> str:
        """As this program's own options."""
        named = (("--tp", self.tp), ("--dp", self.dp), ("--pp", self.pp))
        return " ".join(f"{flag} {value}" for flag, value in named if value > 1 or flag == "--tp")

    @property
    def flags(self) -> str:
        """The same as the engine's options: short forms are not all unique there, and vLLM knows no `--tp`.

        SGLang 0.5.23 `server_args.py`, vLLM 0.32 `engine/arg_utils.py`.
        """
        sizes = (
            ("tensor-parallel-size", self.tp),
            ("data-parallel-size", self.dp),
            ("pipeline-parallel-size", self.pp),
        )
        typed = [f"--{flag} {value}" for flag, value in sizes if value > 1 or flag.startswith("tensor")]
        attention = [] if self.engine is Engine.VLLM or self.dp == 1 else ["--enable-dp-attention"]
        return " ".join([*typed, *attention])

    def layers_here(self, count: int) -> int:
        """Layers on the fullest pipeline stage (SGLang `get_pp_indices`, vLLM `get_pp_indices`: nearly equal parts)."""
        return -(-count // self.pp)
