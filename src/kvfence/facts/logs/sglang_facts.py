"""What follows from all that one start of SGLang printed. Each fact names its sources, most trusted first.

Role. `server_args` says it; else the lines that only one role prints; else the launch command's flag. `unified` is
claimed from `disaggregation_mode='null'`, from a whole dump that has no such setting (versions before it existed), or
from a launch command without the flag *if* the log also shows the server serving: a log that ends before the pool is
ready ends before a prefill worker would have registered. A bare headline says nothing of the role.

Version. SGLang does not print it. What its settings and lines can and cannot contain gives bounds: see `_version_min`
and `_version_max`.

Limits. A prompt of `max_req_input_len` tokens or more is refused, and `max_req_input_len` is six below the smaller of
pool and context. With DP attention or DCP the pool counts more than once, so nothing is derived from it then.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.facts.fact import Fact, Role
from kvfence.facts.logs.evidence import Heard, first_of

_LIMIT_BELOW = 6
"""min(context - 1, pool - 1) - 5, in every version read (0.5.10 to 0.5.23)."""
_CHECKSUM = "disaggregation_enable_kv_checksum"
_NUMBERS = frozenset({"page_size", "tp_size", "dp_size", "pp_size", "pool_cap_tokens", "port"})
"""A launch command may hold `${PAGE_SIZE:-64}`, which is not read."""
_POOLS = ("headline.pool", "headline.context", "warned.pool", "warned.context", "swa.full", "allocated", "limit")


def resolve(heard: Heard) -> dict[str, Fact]:
    """The facts by name; what is not known is not in it."""
    pool, context = _pool(heard), _context(heard)
    limit = heard.least("limit") or _derived_limit(heard, pool, context)
    canary, checksum = _canary(heard), _checksum(heard)
    found: dict[str, Fact | None] = {
        "engine_version_min": _version_min(heard),
        "engine_version_max": _version_max(heard),
        "role": _role(heard),
        "pool_tokens": pool,
        "context_length": context,
        "page_size": _setting(heard, "page_size"),
        "kv_dtype": _kv_dtype(heard),
        "tp_size": _setting(heard, "tp_size"),
        "dp_size": _setting(heard, "dp_size"),
        "pp_size": _setting(heard, "pp_size"),
        "max_req_input_len": limit,
        "usable_length": Fact(max(int(limit.value) - 1, 0), limit.seen) if limit else None,
        "kv_canary": canary,
        "kv_checksum": checksum,
        "checks": checks_on(canary, checksum),
        "allow_auto_truncate": _setting(heard, "allow_auto_truncate"),
        "pool_cap_tokens": _setting(heard, "max_total_tokens"),
        "model": _setting(heard, "model_path"),
        "port": _setting(heard, "port"),
    }
    return {
        name: fact
        for name, fact in found.items()
        if fact is not None and (name not in _NUMBERS or type(fact.value) is int)
    }


def pool_names() -> tuple[str, ...]:
    """What is dropped when the pools of two servers cannot be told apart."""
    return _POOLS


def _setting(heard: Heard, name: str) -> Fact | None:
    """What the dump of settings says, which is resolved; else what the command asks for."""
    return first_of(heard.last(f"set.{name}"), heard.last(f"flag.{name}"))


def _role(heard: Heard) -> Fact | None:
    declared = _setting(heard, "disaggregation_mode")
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
        heard.last("headline.context"), heard.last("warned.context"), _positive(_setting(heard, "context_length"))
    )


def _positive(fact: Fact | None) -> Fact | None:
    return fact if fact and type(fact.value) is int and fact.value > 0 else None


def _kv_dtype(heard: Heard) -> Fact | None:
    asked = _setting(heard, "kv_cache_dtype")
    return first_of(heard.agreed("dtype"), asked if asked and asked.value != "auto" else None)


def _derived_limit(heard: Heard, pool: Fact | None, context: Fact | None) -> Fact | None:
    if not pool or not context:
        return None
    if int(pool.value) < int(context.value) and not _pool_counts_once(heard):
        return None
    smaller = pool if int(pool.value) < int(context.value) else context
    return Fact(max(int(smaller.value) - _LIMIT_BELOW, 0), smaller.seen)


def _pool_counts_once(heard: Heard) -> bool:
    dp_attention = heard.last("set.enable_dp_attention")
    dcp = heard.last("set.dcp_size")
    return bool(dp_attention and dp_attention.value is False and (dcp is None or dcp.value == 1))


def _canary(heard: Heard) -> Fact | None:
    """`none`, `log` or `raise`. A whole dump without the setting is a version that has no canary."""
    return first_of(_setting(heard, "kv_canary"), _missing(heard, "kv_canary", "none"))


def _checksum(heard: Heard) -> Fact | None:
    return first_of(_setting(heard, _CHECKSUM), _missing(heard, _CHECKSUM, value=False))


def _missing(heard: Heard, name: str, value: str | bool) -> Fact | None:  # noqa: FBT001 — a setting's value, not a switch
    whole = heard.last("set.missing")
    return Fact(value, whole.seen) if whole and name in str(whole.value).split() else None


def checks_on(canary: Fact | None, checksum: Fact | None) -> Fact | None:
    """The checks that are on, as a comma list, or `none`; known only when both are."""
    if canary is None or checksum is None:
        return None
    on = [f"kv-canary={canary.value}"] * (canary.value != "none") + ["kv-checksum"] * (checksum.value is True)
    return Fact(",".join(on) or "none", checksum.seen if checksum.value else canary.seen)


def _version_min(heard: Heard) -> Fact | None:
    return max(_at_least(heard), key=lambda fact: _ordered(str(fact.value)), default=None)


def _at_least(heard: Heard) -> Iterator[Fact]:
    """Each says: this version or a later one."""
    since: tuple[tuple[str, Fact | None], ...] = (
        ("0.5.23", heard.last("warned.pool")),
        ("0.5.22", heard.last("set.disaggregation_decode_allocation_policy")),
        ("0.5.21", heard.last(f"set.{_CHECKSUM}")),
        ("0.5.11", _styled(heard, "dict")),
    )
    yield from (Fact(version, fact.seen) for version, fact in since if fact)


def _version_max(heard: Heard) -> Fact | None:
    """This version or an earlier one. The checksum came with 0.5.21, the settings as a dict by 0.5.19."""
    repr_style = _styled(heard, "repr")
    if repr_style:
        return Fact("0.5.18", repr_style.seen)
    return _missing(heard, _CHECKSUM, "0.5.20")


def _styled(heard: Heard, style: str) -> Fact | None:
    fact = heard.last("set.style")
    return fact if fact and fact.value == style else None


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
