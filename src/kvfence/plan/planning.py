"""A plan: the forecast of a setting, what it must hold, and what to change where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kvfence.findings.forecast import Cost, Forecast, Spread, Standing
from kvfence.plan.cache import Cache, Keeps
from kvfence.plan.context import KEYS, context_of, usable
from kvfence.plan.fit import Need, attempts, promise
from kvfence.plan.predict import Model, Prediction, kept_by, predict
from kvfence.plan.setting import Engine, Role, Setting
from kvfence.plan.sglang_budget import fraction as sglang_fraction
from kvfence.plan.vllm_budget import fraction as vllm_fraction
from kvfence.plan.vllm_pool import tokens_logged_before_021


def plan(model: Model, setting: Setting, need: Need | None = None) -> Forecast:
    """Forecast, and changes where it does not hold its need; without a need of its own, one request of the context.

    Raises:
        UsageError: the config or the setting cannot be counted.
        TargetError: a file that belongs to the model cannot be read.
    """
    kept_by(model, setting)  # a family that is not known is the first thing to say
    asked = need or Need(context=context_of(model.config, setting))
    setting = replace(setting, context=asked.context)
    made = predict(model, setting)
    needed = asked.tokens(setting)
    fits = made.pool.standing(needed) in {Standing.TIGHT, Standing.FINE}
    return Forecast(
        model=f"{model.config.architecture} ({model.config.file})",
        family=made.cache.family,
        engine=setting.engine.value,
        setting=_setting_line(model, setting),
        costs=_costs(made.cache),
        shares=made.shares,
        pool=made.pool,
        context=asked.context,
        usable=_usable(made.pool, asked.context, setting),
        needed=needed,
        requests=asked.requests,
        pools=setting.dp,
        promise=asked.context if fits else promise(model, setting, asked),
        tried=() if fits else attempts(model, setting, asked),
        notes=tuple(_notes(model, made, asked, setting)),
    )


def _setting_line(model: Model, setting: Setting) -> str:
    fraction = sglang_fraction(model.config, setting) if setting.engine is Engine.SGLANG else vllm_fraction(setting)
    own = " (its default)" if setting.fraction is None else ""
    return (
        f"{setting.engine} {setting.role}, {setting.per_node * setting.nodes} * {setting.gpu.name}, "
        f"{setting.parallelism}, KV {setting.kv_dtype}, fraction {fraction:g}{own}"
    )


def _costs(cache: Cache) -> tuple[Cost, ...]:
    return tuple(
        Cost(
            name=some.name,
            layers=some.count,
            token_bytes=some.token_bytes * some.count,
            request_bytes=some.state_bytes * some.count,
            source=some.source,
        )
        for some in cache.layers
        if some.count
    )


def _usable(pool: Spread, context: int, setting: Setting) -> Spread:
    low, likely, high = (usable(tokens, context, setting) for tokens in (pool.low, pool.likely, pool.high))
    return Spread(low=low, likely=likely, high=high)


def _promised(model: Model, setting: Setting) -> int | None:
    own = replace(setting, context=None)
    return context_of(model.config, own) if model.config.get(*KEYS) is not None else None


def _notes(model: Model, made: Prediction, asked: Need, setting: Setting) -> Iterator[str]:
    yield from made.cache.notes
    promised = _promised(model, setting)
    if promised is not None and asked.context > promised:
        yield f"{asked.context:,} tokens are asked for and the model's config promises {promised:,}"
    if setting.dp > 1:
        yield f"attention runs {setting.dp} times over: this is one pool of {setting.dp}, and a prompt must fit in one"
    if setting.engine is Engine.VLLM and (made.cache.of(Keeps.WINDOW) or made.cache.of(Keeps.STATE)):
        older = tokens_logged_before_021(made.cache, made.shares[-1].likely, setting, made.context)
        yield f"before 0.21 vLLM's 'KV cache size' is about {older:,} here; its 'Maximum concurrency' is this one"
    if setting.role is not Role.UNIFIED:
        other = Role.DECODE if setting.role is Role.PREFILL else Role.PREFILL
        yield f"the {other} pool differs: plan it too, and promise what the smaller one holds"
    if setting.gpus_needed < setting.per_node * setting.nodes:
        yield f"{setting.gpus_needed} of {setting.per_node * setting.nodes} GPUs are used"
