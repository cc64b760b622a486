"""How many bytes a weight takes, by the quantisation that the config declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvfence.errors import UsageError
from kvfence.plan.model_config import ModelConfig

GROUP = 128
"""Numbers that share a 16-bit scale where the config does not say (AWQ, GPTQ, compressed-tensors int4)."""
FOUR_BIT_GROUPED = 0.5 + 2 / GROUP
NVFP4 = 0.5 + 1 / 16
"""Four bits and an 8-bit scale for each 16."""
MXFP4 = 0.5 + 1 / 32
"""Four bits and an 8-bit scale for each 32."""
PLAIN = {"float32": 4.0, "fp32": 4.0}
EIGHT_BIT = 1.0
BITS_OF_A_BYTE = 8
_NAMED = {
    "nvfp4": NVFP4,
    "mxfp4": MXFP4,
    "mxfp8": 1 + 1 / 32,
    "w8a8_int8": EIGHT_BIT,
    "w8a8_fp8": EIGHT_BIT,
    "fp8": EIGHT_BIT,
}
"""Methods that name their size, longer names first: `quant_method`, `quant_algo` or `format`."""


@dataclass(frozen=True, slots=True)
class WeightBytes:
    """Bytes of one number, by kind."""

    name: str
    plain: float
    """Embeddings, and all that is not quantised."""
    attention: float
    feed_forward: float


def weight_bytes(config: ModelConfig) -> WeightBytes:
    """What the config's `quantization_config` says; its dtype where there is none.

    Raises:
        UsageError: a method that is not known.
    """
    plain = PLAIN.get(str(config.get("torch_dtype", "dtype")).removeprefix("torch."), 2.0)
    declared = config.part("quantization_config", "compression_config")
    if not declared:
        return WeightBytes("none", plain, plain, plain)
    name, size = _method(declared, config.file)
    only_experts = name == "mxfp4" or _leaves_out(declared, "attn")
    return WeightBytes(name, plain, plain if only_experts else size, size)


def _method(declared: Mapping[str, Any], file: str) -> tuple[str, float]:
    method = str(declared.get("quant_method", "")).lower()
    algorithm = str(declared.get("quant_algo", "")).lower()
    for name, size in _NAMED.items():
        if name in algorithm or name in str(declared.get("format", "")).lower() or method in {name, f"fbgemm_{name}"}:
            return name, size
    if method == "bitsandbytes":
        return method, FOUR_BIT_GROUPED if declared.get("load_in_4bit") else EIGHT_BIT
    bits = _bits(declared)
    if bits:
        return f"{method} {bits} bit", bits / 8 + (2 / _group(declared) if bits < BITS_OF_A_BYTE else 0)
    raise UsageError(f"{file}: quantisation {method or algorithm or '?'} is not known; give --weights-gib N")


def _bits(declared: Mapping[str, Any]) -> int:
    """`bits` or `w_bit` (AWQ, GPTQ, AutoRound), or of the first group's weights (compressed-tensors)."""
    found = _weights(declared).get("num_bits", declared.get("bits", declared.get("w_bit")))
    return found if isinstance(found, int) and 1 < found <= 16 else 0  # noqa: PLR2004 — 16 is no quantisation


def _group(declared: Mapping[str, Any]) -> int:
    """`group_size`, `q_group_size` or that of the first group's weights: how many numbers share a scale."""
    found = _weights(declared).get("group_size", declared.get("group_size", declared.get("q_group_size")))
    return found if isinstance(found, int) and found > 0 else GROUP


def _weights(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    groups = declared.get("config_groups")
    first: object = next(iter(groups.values()), None) if isinstance(groups, Mapping) else None
    weights = first.get("weights") if isinstance(first, Mapping) else None
    return weights if isinstance(weights, Mapping) else {}


def _leaves_out(declared: Mapping[str, Any], part: str) -> bool:
    """Whether attention is named among what stays as it is, for every layer and not for a few."""
    named = declared.get("modules_to_not_convert") or declared.get("ignore") or declared.get("exclude_modules") or ()
    if not isinstance(named, list | tuple):
        return False
    matching = [str(one) for one in named if part in str(one) and "linear_attn" not in str(one)]
    return any("*" in one or "re:" in one for one in matching) or len(matching) > 30  # noqa: PLR2004 — layers one by one
