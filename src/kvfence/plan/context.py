"""How long a prompt the model promises, as each engine reads it from the config."""

from __future__ import annotations

from kvfence.errors import UsageError
from kvfence.facts.sglang_limit import LONGEST_BELOW
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Engine, Setting

KEYS = (
    "max_sequence_length",
    "seq_length",
    "max_seq_len",
    "max_position_embeddings",
    "n_positions",
    "model_max_length",
)
"""SGLang 0.5.23 `utils/hf_transformers_utils.py CONTEXT_LENGTH_KEYS`; vLLM 0.32 has the same and more."""


def context_of(config: ModelConfig, setting: Setting) -> int:
    """`--context-length`, or the config's longest, stretched by its rope scaling where the engine does so.

    SGLang 0.5.23 `get_context_length` (not where the original length is told, nor for llama3); vLLM 0.32
    `config/model.py _get_and_verify_max_len` (yarn stretches the original length).
    """
    if setting.context is not None:
        return setting.context
    if config.get(*KEYS) is None:
        raise UsageError(f"{config.file}: it promises no length ({', '.join(KEYS[3:5])}); give --context-length N")
    length = config.whole(*KEYS)
    scaling = config.part("rope_scaling", "rope_parameters")
    factor = scaling.get("factor")
    kind = scaling.get("rope_type", scaling.get("type"))
    if not isinstance(factor, int | float) or isinstance(factor, bool) or factor < 1 or kind == "llama3":
        return length
    original = scaling.get("original_max_position_embeddings")
    if setting.engine is Engine.SGLANG:
        return length if original else int(length * factor)
    if kind in {"su", "longrope"}:
        return length
    stretched = original if kind == "yarn" and isinstance(original, int) else length
    return int(stretched * factor)


def stretched(config: ModelConfig, context: int) -> int:
    """Positions that an engine's table has: the config's longest times yarn's factor, as far as a table is kept.

    SGLang 0.5.23 `layers/rotary_embedding/yarn.py` and vLLM 0.32 `yarn_scaling_rope.py` (original length * factor);
    without scaling the config's length, or the context where it is longer (`models/*.py`, `max_position_embeddings`).
    """
    scaling = config.part("rope_scaling", "rope_parameters")
    factor, original = scaling.get("factor"), scaling.get("original_max_position_embeddings")
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind == "yarn" and isinstance(factor, int | float) and isinstance(original, int):
        return int(original * factor)
    return config.count(*KEYS) or context


def usable(pool_tokens: int, context: int, setting: Setting) -> int:
    """The longest prompt that is taken.

    vLLM needs room for one token of the answer.
    """
    longest = min(pool_tokens, context)
    return max(longest - (LONGEST_BELOW if setting.engine is Engine.SGLANG else 1), 0)
