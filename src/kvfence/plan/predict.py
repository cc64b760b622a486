"""One setting into one pool: the model's cache, one GPU's memory, and the engine's arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kvfence.errors import UsageError
from kvfence.findings.forecast import Share, Spread
from kvfence.plan.cache import Cache, Keeps
from kvfence.plan.context import context_of
from kvfence.plan.families.draft import with_model
from kvfence.plan.family import cache_of, given
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.setting import Engine, Setting
from kvfence.plan.sglang_budget import budget as sglang_budget
from kvfence.plan.sglang_pool import tokens as sglang_tokens
from kvfence.plan.vllm_budget import budget as vllm_budget
from kvfence.plan.vllm_pool import tokens as vllm_tokens
from kvfence.plan.weights import Weights, weights_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What is to be served: the model, its draft, and what the user knows of them better than their configs."""

    config: ModelConfig
    draft: ModelConfig | None = None
    weights_gib: float | None = None
    """All files together."""
    token_bytes: int | None = None
    """Of one token on one GPU, where the config's family is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A pool, and what it was made of."""

    cache: Cache
    shares: tuple[Share, ...]
    pool: Spread
    context: int


def predict(model: Model, setting: Setting) -> Prediction:
    """The pool of one worker.

    Raises:
        UsageError: the config or the setting cannot be counted; the message says what to give.
    """
    cache = kept_by(model, setting)
    context = context_of(model.config, setting)
    weights = _weights(model, setting)
    if setting.engine is Engine.SGLANG:
        shares = sglang_budget(model.config, setting, weights)
    else:
        shares = vllm_budget(model.config, setting, weights)
    rest = shares[-1]
    # In order: SGLang gives states whole slots, so a little more memory can leave less for tokens.
    found = sorted(_tokens(cache, size, setting, context) for size in (rest.low, rest.likely, rest.high))
    low, likely, high = found
    return Prediction(cache=cache, shares=shares, pool=Spread(low=low, likely=likely, high=high), context=context)


def _tokens(cache: Cache, rest_bytes: float, setting: Setting, context: int) -> int:
    if setting.engine is Engine.SGLANG:
        return sglang_tokens(cache, rest_bytes, setting)
    return vllm_tokens(cache, rest_bytes, setting, context)


def kept_by(model: Model, setting: Setting) -> Cache:
    """What the model's layers keep, its draft's too; see `predict` for what is raised."""
    if model.token_bytes is not None:
        return given(model.token_bytes)
    cache = cache_of(model.config, setting)
    if model.draft is not None:
        cache = with_model(cache, cache_of(model.draft, replace(setting, draft_layers=0)))
    if not cache.token_bytes(Keeps.FULL) and not cache.token_bytes(Keeps.WINDOW):
        raise UsageError(f"{model.config.file}: no layer keeps tokens, so there is no pool to plan")
    return cache


def _weights(model: Model, setting: Setting) -> Weights:
    own = weights_of(model.config, setting, model.weights_gib)
    if model.draft is None:
        return own
    other = weights_of(model.draft, replace(setting, draft_layers=0))
    low, likely, high = own.low + other.low, own.likely + other.likely, own.high + other.high
    return Weights(low, likely, high, f"{own.source}, and a draft's")
