"""What to change so that the pool holds what it must: the smallest change first, one where one is enough.

Smaller is what costs less to do and to undo: a fraction, then the cache's type, then how the same GPUs share the
model, then more GPUs. A pair is tried only where no single change fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kvfence.errors import UsageError
from kvfence.findings.forecast import Attempt
from kvfence.plan.model_config import ModelConfig
from kvfence.plan.predict import Model, predict
from kvfence.plan.setting import Engine, KvDtype, Measured, Setting
from kvfence.plan.sglang_budget import default_fraction
from kvfence.plan.sglang_budget import fraction as sglang_fraction
from kvfence.plan.vllm_budget import fraction as vllm_fraction
from kvfence.plan.vllm_pool import page_of as vllm_page

FRACTION_STEP = 0.01
VLLM_FRACTION_MAX = 0.95
_ROUNDS_MAX = 64
"""Each shortens the context; the models that are known need two or three."""
NODES_MAX = 8
"""More of them is another deployment, not a change of this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What must be held: so many requests of so many tokens."""

    context: int
    requests: int = 1

    def tokens(self, setting: Setting) -> int:
        """In one pool: with data parallelism the requests are spread over as many pools."""
        return self.context * self.in_one_pool(setting)

    def in_one_pool(self, setting: Setting) -> int:
        """Requests that one pool must hold."""
        return -(-self.requests // setting.dp)


@dataclass(frozen=True, slots=True)
class Change:
    """One change, as flags and as the setting that it makes."""

    what: str
    flags: str
    setting: Setting


def attempts(model: Model, setting: Setting, need: Need) -> tuple[Attempt, ...]:
    """Changes in order, up to the first that holds the need even at the low forecast; all of them if none does."""
    tried: list[Attempt] = []
    for change in _changes(model.config, setting):
        attempt = _attempt(model, change, need)
        if attempt is None:
            continue
        tried.append(attempt)
        if attempt.fits:
            break
    return tuple(tried)


def promise(model: Model, setting: Setting, need: Need) -> int:
    """The longest context of which the low forecast holds as many requests, in tokens; 0 where there is none.

    vLLM's pool is counted for the context that is promised, so a shorter one has another pool, and one of its blocks
    serves nobody (`facts/vllm_limit.py`).
    """
    each = need.in_one_pool(setting)
    context = need.context
    for _round in range(_ROUNDS_MAX):
        made = predict(model, replace(setting, context=context))
        spare = vllm_page(made.cache, setting) if setting.engine is Engine.VLLM else 0
        held = max(made.pool.low - spare, 0) // each
        if not held or held >= context:
            return min(held, context)
        context = held
    return 0


def _attempt(model: Model, change: Change, need: Need) -> Attempt | None:
    """None where the engine would not start like that (heads that cannot be split, not enough GPUs)."""
    try:
        pool = predict(model, change.setting).pool
    except UsageError:
        return None
    needed = need.tokens(change.setting)
    return Attempt(what=change.what, flags=change.flags, pool=pool, needed=needed, fits=pool.low >= needed)


def _changes(config: ModelConfig, setting: Setting) -> Iterator[Change]:
    singles = [*_fractions(config, setting), *_dtypes(setting), *_parallelism(setting), *_nodes(setting)]
    yield from singles
    for first in [*_dtypes(setting), *_parallelism(setting)]:
        for second in _fractions(config, first.setting):
            yield _both(first, second)
    for first in _dtypes(setting):
        for second in [*_parallelism(first.setting), *_nodes(first.setting)]:
            yield _both(first, second)


def _both(first: Change, second: Change) -> Change:
    return Change(f"{first.what} and {second.what}", f"{first.flags} {second.flags}", second.setting)


def _fractions(config: ModelConfig, setting: Setting) -> Iterator[Change]:
    """Up to what the engine itself would leave for activations: more is paid for by running out of memory later."""
    if setting.measured.available_kv_gib is not None:
        return  # what a log measured holds for its own fraction only
    if setting.engine is Engine.SGLANG:
        now, most = sglang_fraction(config, setting), default_fraction(config, setting)
        flag = "--mem-fraction-static"
    else:
        now, most, flag = vllm_fraction(setting), VLLM_FRACTION_MAX, "--gpu-memory-utilization"
    steps = int((most - now) / FRACTION_STEP + 1e-9)
    for step in range(1, steps + 1):
        value = round(now + step * FRACTION_STEP, 3)
        yield Change("a larger fraction", f"{flag} {value:g}", replace(setting, fraction=value))


def _dtypes(setting: Setting) -> Iterator[Change]:
    if setting.kv_dtype.bytes > 1:
        changed = replace(setting, kv_dtype=KvDtype.FP8_E4M3)
        yield Change("an 8-bit cache", "--kv-cache-dtype fp8_e4m3", _kept(changed))


def _parallelism(setting: Setting) -> Iterator[Change]:
    """Other ways to use the GPUs that are there, wider splits first."""
    yield from _splits(setting, setting.per_node * setting.nodes, "another split of the same GPUs")


def _nodes(setting: Setting) -> Iterator[Change]:
    for nodes in range(setting.nodes + 1, NODES_MAX + 1):
        more = replace(setting, nodes=nodes)
        where = "" if setting.engine is Engine.VLLM else f" --nnodes {nodes}"
        for split in _splits(more, more.per_node * nodes, f"{nodes} nodes"):
            yield replace(split, flags=f"{split.flags}{where}")


def _splits(setting: Setting, gpus: int, what: str) -> Iterator[Change]:
    """A larger tp, a longer pipeline, or (SGLang) attention over more of the same GPUs."""
    now = (setting.tp, setting.pp, setting.dp)
    found = [
        (tp * pp, pp, -dp, tp)
        for tp in _powers(setting.tp, gpus)
        for pp in _powers(setting.pp, gpus // tp)
        for dp in {setting.dp, 1}
        if (tp, pp, dp) != now and _fits_on(setting, tp, pp, dp, gpus)
    ]
    for _size, pp, dp, tp in sorted(found):
        changed = replace(setting, tp=tp, pp=pp, dp=-dp)
        yield Change(what, changed.flags, _kept(changed, resplit=True))


def _fits_on(setting: Setting, tp: int, pp: int, dp: int, gpus: int) -> bool:
    copies = dp if setting.engine is Engine.VLLM else 1
    return tp * pp * copies <= gpus and (setting.engine is Engine.VLLM or tp % dp == 0)


def _powers(least: int, most: int) -> Iterator[int]:
    value = least
    while value <= most:
        yield value
        value *= 2


def _kept(setting: Setting, *, resplit: bool = False) -> Setting:
    """What a log measured holds for a change of type, and says nothing of another split."""
    return replace(setting, measured=Measured()) if resplit else setting
