"""The bytes of weights that one GPU holds: from the index of the files, as given, or counted from the config."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kvfence.errors import UsageError
from kvfence.plan.allocator import reserved
from kvfence.plan.model_config import ModelConfig, document
from kvfence.plan.parameters import Parameters, count, expert_width
from kvfence.plan.quantisation import WeightBytes, weight_bytes
from kvfence.plan.setting import Engine, Setting
from kvfence.plan.tensors import beside, of_layers, of_tables

INDEX = "model.safetensors.index.json"
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Weights:
    """Bytes on one GPU of the fullest stage: low, likely, high, and where they come from."""

    low: float
    likely: float
    high: float
    source: str


def weights_of(config: ModelConfig, setting: Setting, total_gib: float | None = None) -> Weights:
    """One GPU's weights. A size that was measured on a GPU stands; an index is exact but for how it is split."""
    measured = setting.measured.weights_gib
    if measured is not None:
        return Weights(*(measured * GIB,) * 3, "one GPU's, as the log says")
    parameters, sizes = count(config), weight_bytes(config)
    counted = _by_kind(parameters, sizes)
    total, source, doubt = _total(config, total_gib, sum(counted.values()))
    scale = total / sum(counted.values())
    served = {kind: size * scale for kind, size in counted.items() if kind != "draft" or setting.draft_layers}
    served["experts"] *= padding(config, setting, sizes)
    here = _on_one_gpu(served, setting) * setting.layers_here(config.layers) / config.layers
    more = _more_than_the_file(config, setting, sizes)
    return Weights(here * (1 - doubt) + more, here + more, here * (1 + doubt) + more + 0.25 * GIB, source)


def padding(config: ModelConfig, setting: Setting, sizes: WeightBytes) -> float:
    """How much larger vLLM makes 4-bit experts of MXFP4 for its kernels; 1 for all others.

    Widths in steps of 128 and 256, where the GPU has no 4-bit arithmetic of its own (vLLM 0.10.1 and 0.11.0
    `quantization/mxfp4.py create_weights`, Marlin). Other kernels there take steps of 64 to 256.
    """
    if setting.engine is not Engine.VLLM or sizes.name != "mxfp4" or not expert_width(config):
        return 1.0
    inner, outer = -(-expert_width(config) // setting.tp), config.hidden
    return _in_steps(inner, 128) * _in_steps(outer, 256) / (inner * outer)


def _in_steps(number: int, step: int) -> int:
    return -(-number // step) * step


def _more_than_the_file(config: ModelConfig, setting: Setting, sizes: WeightBytes) -> float:
    """What memory holds and no checkpoint has: tables that the engine makes, and what the allocator rounds up."""
    file = [*of_tables(config, setting, sizes), *of_layers(config, setting, sizes)]
    made = list(beside(config, setting))
    return reserved([*file, *made]) - sum(file)


def _total(config: ModelConfig, given_gib: float | None, counted: float) -> tuple[float, str, float]:
    if given_gib is not None:
        return given_gib * GIB, "--weights-gib", 0.02
    listed = index_bytes(config)
    if listed is not None:
        return listed, f"total_size of {INDEX}", 0.02
    return counted, "counted from the config", 0.05


def index_bytes(config: ModelConfig) -> float | None:
    """`metadata.total_size` of the index beside the config; none without one.

    Raises:
        UsageError: there is one and it does not say.
    """
    file = Path(config.file).with_name(INDEX)
    if not file.is_file():
        return None
    part = document(file).get("metadata")
    size = part.get("total_size") if isinstance(part, dict) else None
    if isinstance(size, bool) or not isinstance(size, int | float) or size <= 0:
        raise UsageError(f"{file}: no metadata.total_size above 0; give the weights: --weights-gib N")
    return float(size)


def _by_kind(parameters: Parameters, sizes: WeightBytes) -> dict[str, float]:
    return {
        "attention": parameters.attention * sizes.attention,
        "replicated": parameters.replicated * sizes.attention,
        "experts": parameters.experts * sizes.feed_forward,
        "dense": parameters.dense * sizes.feed_forward,
        "embedding": parameters.embedding * sizes.plain,
        "draft": parameters.draft * sizes.feed_forward,
    }


def _on_one_gpu(kinds: dict[str, float], setting: Setting) -> float:
    """Everything is split over `tp`, but for what is kept whole and, under attention DP, attention and embeddings.

    SGLang 0.5.23 `layers/dp_attention.py`: attention is split over `tp / dp`, embeddings are whole on each GPU;
    vLLM 0.32: experts over `tp * dp` (`--enable-expert-parallel`), the rest over `tp`.
    """
    split = setting.tp
    attention = setting.attention_tp
    tables = split if attention == split else 1
    over = setting.tp * setting.dp if setting.engine is Engine.VLLM else setting.tp
    return (
        kinds["attention"] / attention
        + kinds["replicated"]
        + kinds["experts"] / over
        + kinds["dense"] / split
        + kinds["embedding"] / tables
        + kinds.get("draft", 0) / split
    )
