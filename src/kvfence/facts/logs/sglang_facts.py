"""What follows from all that one start of SGLang printed. Each fact names its sources, most trusted first.

Role. `server_args` says it; else the lines that only one role prints; else the launch command's flag. `unified` is
claimed from `disaggregation_mode='null'`, from a whole dump that has no such setting (versions before it existed), or
from a launch command without the flag *if* the log also shows the server serving: a log that ends before the pool is
ready ends before a prefill worker would have registered. A bare headline says nothing of the role.

Pool. The headline is the last word: a draft model's pool is printed before it, in the same words as the target's. A
model with sliding windows has two pools, and the headline gives the full one.

Limits. A prompt of `max_req_input_len` tokens or more is refused (`sglang_limit`). With DP attention or DCP the pool
counts more than once, so nothing is derived from it then; nor where a window pool is smaller than both, since which
pool limits a prompt changed between versions (sglang#24523).
"""

from __future__ import annotations

from kvfence.facts.fact import Fact, Role
from kvfence.facts.flags import SGLANG, Kind
from kvfence.facts.known_version import NEWEST, OLDEST, ends, is_older, known_version
from kvfence.facts.logs.evidence import Heard, first_of
from kvfence.facts.logs.settings import typed
from kvfence.facts.logs.sglang_checks import resolve_checks
from kvfence.facts.logs.sglang_settings import setting
from kvfence.facts.logs.sglang_versions import version_max, version_min
from kvfence.facts.sglang_limit import LIMIT_BELOW

_WINDOW_LIMITS_UP_TO = "0.5.11"
"""`max_token_pool_size` in `model_runner.py`: min(window, full) in 0.5.9, full in 0.5.12."""
_HICACHE = "enable_hierarchical_cache"
_PLAIN = (
    *("page_size", "tp_size", "dp_size", "pp_size", "max_total_tokens", "allow_auto_truncate", "model_path"),
    *("speculative_draft_model_path", "mem_fraction_static", "quantization", "attention_backend", "device"),
    *("disaggregation_transfer_backend", "host", "port", "disaggregation_bootstrap_port"),
)
"""Settings that are facts as they stand."""
_POOLS = (
    *("headline.pool", "headline.context", "warned.pool", "warned.context", "swa.full", "swa.window", "mamba"),
    *("allocated", "limit", "queue.limit"),
)


def resolve(heard: Heard) -> dict[str, Fact]:
    """The facts by name; what is not known is not in it."""
    pool, context, window = _pool(heard), _context(heard), heard.least("swa.window")
    limit = heard.least("limit") or _derived_limit(heard, pool, context, window)
    found: dict[str, Fact | None] = {
        OLDEST: version_min(heard),
        NEWEST: version_max(heard),
        "role": _role(heard),
        "pool_tokens": pool,
        "context_length": context,
        "swa_pool_tokens": window,
        "mamba_pool_slots": heard.least("mamba"),
        "kv_dtype": _kv_dtype(heard),
        "max_req_input_len": limit,
        "usable_length": _usable(heard, limit),
        **resolve_checks(heard),
        "cuda_graph": _cuda_graph(heard),
        "hicache": first_of(heard.last("hicache.line"), typed(setting(heard, _HICACHE), Kind.SWITCH)),
    }
    plain = {SGLANG[name].fact: typed(setting(heard, name), SGLANG[name].kind) for name in _PLAIN}
    return {name: fact for name, fact in (plain | found).items() if fact is not None}


def pool_names() -> tuple[str, ...]:
    """What is dropped when the pools of two servers cannot be told apart."""
    return _POOLS


def _role(heard: Heard) -> Fact | None:
    declared = setting(heard, "disaggregation_mode")
    if declared:
        known = {"null": Role.UNIFIED, "prefill": Role.PREFILL, "decode": Role.DECODE}
        role = known.get(str(declared.value))
        return Fact(role.value, declared.seen) if role else None
    printed = heard.agreed("role.line")
    if printed:
        return printed
    whole = heard.last("set.missing")
    if whole and "disaggregation_mode" in str(whole.value).split():
        return Fact(Role.UNIFIED.value, whole.seen)
    launched = heard.last("flag.no_role")
    served = heard.has("headline.pool") or heard.has("served") or heard.has("limit")
    return Fact(Role.UNIFIED.value, launched.seen) if launched and served else None


def _pool(heard: Heard) -> Fact | None:
    """The headline is the last word. `KV Cache is allocated` alone counts only where all pools have the same size."""
    return first_of(
        heard.least("headline.pool"), heard.least("warned.pool"), heard.least("swa.full"), heard.agreed("allocated")
    )


def _context(heard: Heard) -> Fact | None:
    return first_of(
        heard.last("headline.context"), heard.last("warned.context"), _positive(setting(heard, "context_length"))
    )


def _positive(fact: Fact | None) -> Fact | None:
    return fact if fact and type(fact.value) is int and fact.value > 0 else None


def _kv_dtype(heard: Heard) -> Fact | None:
    asked = setting(heard, "kv_cache_dtype")
    return first_of(heard.agreed("dtype"), asked if asked and asked.value != "auto" else None)


def _usable(heard: Heard, limit: Fact | None) -> Fact | None:
    """The longest prompt that passes both doors: the scheduler's, and the queue's of half of a pair."""
    below = Fact(max(int(limit.value) - 1, 0), limit.seen) if limit else None
    known = [fact for fact in (below, heard.least("queue.limit")) if fact]
    return min(known, key=lambda fact: int(fact.value), default=None)


def _cuda_graph(heard: Heard) -> Fact | None:
    disabled = typed(setting(heard, "disable_cuda_graph"), Kind.SWITCH)
    return Fact(not disabled.value, disabled.seen) if disabled else heard.last("graph.line")


def _derived_limit(heard: Heard, pool: Fact | None, context: Fact | None, window: Fact | None) -> Fact | None:
    if not pool or not context:
        return None
    if window and int(window.value) < min(int(pool.value), int(context.value)):
        return _limit_by_window(heard, window)
    if int(pool.value) < int(context.value) and not _pool_counts_once(heard):
        return None
    smaller = pool if int(pool.value) < int(context.value) else context
    return Fact(max(int(smaller.value) - LIMIT_BELOW, 0), smaller.seen)


def _limit_by_window(heard: Heard, window: Fact) -> Fact | None:
    """Up to 0.5.11 the smaller pool is every server's limit; from 0.5.12 on prefill alone took it for a while."""
    bounds = {OLDEST: version_min(heard), NEWEST: version_max(heard)}
    _oldest, newest = ends(known_version({name: fact for name, fact in bounds.items() if fact}))
    decided = newest is not None and not is_older(_WINDOW_LIMITS_UP_TO, newest)
    return Fact(max(int(window.value) - LIMIT_BELOW, 0), window.seen) if decided else None


def _pool_counts_once(heard: Heard) -> bool:
    dp_attention = heard.last("set.enable_dp_attention")
    dcp = heard.last("set.dcp_size")
    return bool(dp_attention and dp_attention.value is False and (dcp is None or dcp.value == 1))
