"""What a process takes of a GPU before it loads weights: CUDA's context, and the buffers of its communicators.

No engine computes it and no data sheet has it. The figures are those of servers whose logs are public, and none of them
is a server that `docs/plan-against-logs.md` predicts without its memory figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kvfence.findings.forecast import Share
from kvfence.plan.gpus import GIB
from kvfence.plan.setting import Setting


class Links(StrEnum):
    """How a GPU reaches its peers, which is what the size of NCCL's buffers depends on."""

    ALONE = "a context alone"
    PCIE = "a context and communicators over PCIe"
    PAIR = "a context and communicators of a pair over NVLink"
    NVLINK = "a context and communicators over NVLink"


@dataclass(frozen=True, slots=True)
class Taken:
    """Of what CUDA reports, in GiB."""

    low: float
    likely: float
    high: float
    source: str


MEASURED = {
    Links.ALONE: Taken(0.40, 0.61, 0.75, "78.57 of 79.18 GiB free (H100, llm-d-incubation/llm-d-planner)"),
    Links.PCIE: Taken(0.45, 0.63, 1.10, "22.89 of 23.52 GiB free (RTX 4090, tp 2, kvcache-ai/ktransformers#1870)"),
    Links.PAIR: Taken(1.00, 1.54, 2.20, "77.64 of 79.18 GiB free (H100, tp 2, llm-d-incubation/llm-d-planner)"),
    Links.NVLINK: Taken(
        1.40,
        2.43,
        3.30,
        "137.29 of 139.72 GiB free (H200, tp 8, sgl-project/sglang#11716), 137.90 (the same, SemiAnalysisAI/InferenceX"
        "#2128), 175.25 of 178.35 (B200, tp 8, sgl-project/sglang#5390)",
    ),
}
PAIR = 2


def links_of(setting: Setting) -> Links:
    """By how many GPUs work together, and what connects them."""
    together = setting.tp * setting.pp
    if together == 1:
        return Links.ALONE
    if not setting.gpu.linked:
        return Links.PCIE
    return Links.PAIR if together == PAIR else Links.NVLINK


def taken_at_start(setting: Setting) -> Share:
    """In bytes, with where it was read."""
    links = links_of(setting)
    found = MEASURED[links]
    return Share(
        name=links.value,
        low=found.low * GIB,
        likely=found.likely * GIB,
        high=found.high * GIB,
        source=f"{links.value}: {found.source}",
    )
