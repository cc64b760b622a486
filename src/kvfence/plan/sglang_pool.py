"""How SGLang turns memory into tokens: one pool, a pool and a window's pool, or a pool beside recurrent states."""

from __future__ import annotations

from kvfence.plan.cache import Cache, Keeps
from kvfence.plan.families import dsa
from kvfence.plan.setting import Role, Setting
from kvfence.plan.sglang_budget import chunk_tokens

SWA_RATIO = 0.8
"""`--swa-full-tokens-ratio` where it is not given (SGLang 0.5.23 `server_args.py`)."""
DSA_PAGE = 64
"""Its kernels' page (SGLang 0.5.23 `arg_groups/model_overrides`)."""
EVICTION_INTERVAL = 128
"""Tokens between two evictions from a window's pool (SGLang 0.5.23 `environ.py SGLANG_SWA_EVICTION_INTERVAL`)."""


def page_of(cache: Cache, setting: Setting) -> int:
    """`--page-size`, or 1; sparse attention needs 64."""
    return setting.page_size or (DSA_PAGE if cache.family == dsa.NAME else 1)


def tokens(cache: Cache, rest_bytes: float, setting: Setting) -> int:
    """`max_total_num_tokens`: what memory holds, by whole pages, and not over `--max-total-tokens`."""
    rest = max(int(rest_bytes), 0)
    page = page_of(cache, setting)
    if cache.of(Keeps.STATE):
        rest = _left_by_states(cache, rest, setting)
    held = _windowed(cache, rest, setting, page) if cache.of(Keeps.WINDOW) else _plain(cache, rest)
    if setting.pool_cap is not None:
        held = min(held, setting.pool_cap)
    return held // page * page


def _plain(cache: Cache, rest: int) -> int:
    """`rest // cell` (SGLang 0.5.23 `pool_configurator.py DefaultPoolConfigurator.calculate_pool_sizes`)."""
    return rest // cache.token_bytes(Keeps.FULL)


def _windowed(cache: Cache, rest: int, setting: Setting, page: int) -> int:
    """`rest / (full + ratio * window)`; all layers with a window: `rest / window`; or the window's pool by requests.

    SGLang 0.5.23 `pool_configurator.py HybridSWAPoolConfigurator`, `SWARequestCapPoolConfigurator`. The tokens of
    the full layers are what is counted.
    """
    full, window = cache.token_bytes(Keeps.FULL), cache.token_bytes(Keeps.WINDOW)
    if not full:
        return rest // window
    if setting.running is not None and not _caches_prefixes(setting):
        slots = -(-_window_slots(cache, setting, page) // page) * page
        return max(rest - slots * window, 0) // full
    ratio = SWA_RATIO if setting.swa_ratio is None else setting.swa_ratio
    return int(rest / (full + ratio * window))


def _window_slots(cache: Cache, setting: Setting, page: int) -> int:
    """The most that running requests hold in the window's pool (SGLang 0.5.23 `compute_swa_request_cap`)."""
    each = cache.window + EVICTION_INTERVAL * max(setting.draft_layers, 1) + 2 * page
    slots = each * max((setting.running or 1) // setting.dp, 1)
    return slots if setting.role is Role.DECODE else slots + 2 * chunk_tokens(setting) + page


def _caches_prefixes(setting: Setting) -> bool:
    return setting.radix and setting.role is not Role.DECODE


def _left_by_states(cache: Cache, rest: int, setting: Setting) -> int:
    """What recurrent states leave: they take `ratio / (1 + ratio)` of it, one slot of them for padding.

    SGLang 0.5.23 `kv_cache_configurator.py _handle_max_mamba_cache`. Without prefixes and with
    `--max-running-requests` there is one state a request.
    """
    each = cache.state_bytes
    if setting.running is not None and not _caches_prefixes(setting):
        slots = max(1, setting.running // setting.dp)
    else:
        share = setting.mamba_ratio / (1 + setting.mamba_ratio)
        slots = max(int(rest * share) // each - 1, 0)
    return max(rest - (slots + 1) * each, 0)
