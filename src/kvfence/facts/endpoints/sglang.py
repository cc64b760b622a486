"""SGLang, 0.4 to 0.5.23: `/server_info` says all; `/metrics`, `/v1/models` and the bootstrap server's `/route` a part.

`/server_info` (`/get_server_info` up to 0.5.10) is the resolved settings, and what the scheduler found at its start:
`max_total_num_tokens`, `max_req_input_len`, and for each DP rank its own pool. `/v1/models` gives the context and not
the pool. `/metrics` is there with `--enable-metrics`. The bootstrap server tells decode prefill's layout, no capacity.
Read in the wheels 0.5.10 and 0.5.19 to 0.5.23, and in the answers of servers of 0.5.19 and 0.5.23.
"""

from __future__ import annotations

from dataclasses import replace

from kvfence.facts.endpoints.counters import sglang_happenings
from kvfence.facts.endpoints.pages import Fields, Metric, Pages, derived, known, least
from kvfence.facts.fact import Engine, Fact, NodeFacts, Role
from kvfence.facts.logs.sglang_checks import checks_on
from kvfence.findings.finding import Evidence

SERVER_INFO = ("/server_info", "/get_server_info")
ROUTE = "/route?prefill_dp_rank=-1&prefill_cp_rank=-1&target_tp_rank=-1&target_pp_rank=-1"
PATHS = (SERVER_INFO[0], "/v1/models", "/metrics", "/model_info", ROUTE)
_ROLES = {"null": Role.UNIFIED, "unified": Role.UNIFIED, "prefill": Role.PREFILL, "decode": Role.DECODE}
_CHECKSUM = "disaggregation_enable_kv_checksum"
_MODE = "disaggregation_mode"


def read(pages: Pages) -> tuple[NodeFacts, ...]:
    """The node, or the nodes that a small load balancer puts into one answer; none if it is not SGLang."""
    for path in SERVER_INFO:
        info = pages.json(path)
        nodes = read_server_info(info, pages.base.name) if info else ()
        if len(nodes) == 1 and nodes[0].name == pages.base.name:
            return (_live(pages, {**nodes[0].facts, **_missing_from(pages)}),)
        if nodes:
            front = known({"front_length": pages.advertised()})
            return tuple(replace(node, facts={**node.facts, **front}) for node in nodes)
    facts = _missing_from(pages)
    engine = _engine_elsewhere(pages)
    return (_live(pages, {"engine": engine, **facts}),) if engine else ()


def read_server_info(info: Fields, name: str) -> tuple[NodeFacts, ...]:
    """The node of that name by its `/server_info`, or a small load balancer's workers; none if it is not SGLang's."""
    if info.has("prefill", "decode") and not info.has("max_total_num_tokens"):
        return _balanced(info)
    if info.has("max_total_num_tokens") or info.has(_MODE):
        return (_node(name, _from_server_info(info)),)
    return ()


def read_route(pages: Pages) -> tuple[NodeFacts, ...]:
    """What a prefill worker's bootstrap server says of it: its layout."""
    route = pages.json(ROUTE)
    if route is None or not route.has("attn_tp_size", "dp_size"):
        return ()
    facts = {
        "engine": Fact(Engine.SGLANG.value, route.seen("attn_tp_size", route.fields["attn_tp_size"])),
        "role": Fact(Role.PREFILL.value, route.seen("follow_bootstrap_room", "… (a bootstrap server is prefill's)")),
        "page_size": route.positive("page_size"),
        "kv_dtype": _kv_dtype(route),
        "dp_size": route.positive("dp_size"),
        "pp_size": route.positive("pp_size"),
        "host": Fact(pages.base.host, route.seen("attn_tp_size", route.fields["attn_tp_size"])),
        "bootstrap_port": Fact(pages.base.port, route.seen("attn_tp_size", route.fields["attn_tp_size"])),
    }
    return (_node(pages.base.name, facts),)


def _node(name: str, facts: dict[str, Fact | None]) -> NodeFacts:
    return NodeFacts(name=name, facts=known(facts))


def _live(pages: Pages, facts: dict[str, Fact | None]) -> NodeFacts:
    """The server that answered, with what it has counted."""
    return NodeFacts(name=pages.base.name, facts=known(facts), happenings=sglang_happenings(pages))


def _balanced(info: Fields) -> tuple[NodeFacts, ...]:
    """The small load balancer of older versions answers with all its workers' answers."""
    return tuple(
        _node(f"{role}-{index}", _from_server_info(worker))
        for role in ("prefill", "decode")
        for index, worker in enumerate(info.each(role))
        if worker.has("max_total_num_tokens")
    )


def _from_server_info(info: Fields) -> dict[str, Fact | None]:
    limit = info.positive("max_req_input_len")
    canary, checksum = _canary(info), _checksum(info)
    cap = info.positive("max_total_tokens")
    return {
        "engine": Fact(Engine.SGLANG.value, _first_seen(info)),
        "engine_version": info.text("version"),
        "role": _role(info),
        "pool_tokens": _pool(info),
        "context_length": info.positive("context_length"),
        "page_size": info.positive("page_size"),
        "kv_dtype": _kv_dtype(info),
        "tp_size": info.positive("tp_size"),
        "dp_size": info.positive("dp_size"),
        "pp_size": info.positive("pp_size"),
        "max_req_input_len": limit,
        "usable_length": derived(limit, int(limit.value) - 1, "a prompt of it is refused") if limit else None,
        "kv_canary": canary,
        "kv_checksum": checksum,
        "checks": checks_on(canary, checksum),
        "allow_auto_truncate": info.switch("allow_auto_truncate"),
        "pool_cap_tokens": cap,
        "model": info.text("model_path"),
        "mamba_pool_slots": info.positive("max_mamba_cache_size"),
        "swa_pool_tokens": least(*(memory.positive("token_capacity_swa") for memory in _memories(info))),
        "draft_model": info.text("speculative_draft_model_path"),
        "mem_fraction": info.text("mem_fraction_static"),
        "quantization": info.text("quantization"),
        "attention_backend": info.text("attention_backend"),
        "transfer_backend": info.text("disaggregation_transfer_backend") if _is_half(info) else None,
        "cuda_graph": _cuda_graph(info),
        "hicache": info.switch("enable_hierarchical_cache"),
        "device": info.text("device"),
        "host": info.text("host"),
        "port": info.positive("port"),
        "bootstrap_port": info.positive("disaggregation_bootstrap_port") if _is_half(info) else None,
    }


def _missing_from(pages: Pages) -> dict[str, Fact | None]:
    """What other pages say; used where `/server_info` does not. Its `context_length` is null unless it was set."""
    info = pages.json(SERVER_INFO[0]) or pages.json(SERVER_INFO[1])
    found: dict[str, Fact | None] = {"advertised_length": pages.advertised()}
    metrics = {metric.name: metric for metric in pages.metrics("sglang:")}
    if info is None or info.positive("context_length") is None:
        listed = next((card.positive("max_model_len") for card in pages.models()), None)
        found["context_length"] = listed or _gauge(metrics, "sglang:context_len")
    if info is not None:
        return found
    model = pages.json("/model_info")
    pool = least(
        *(metric.count() for metric in pages.metrics("sglang:") if metric.name.endswith(":max_total_num_tokens"))
    )
    engine_type = next(
        (metric.label("engine_type") for metric in metrics.values() if metric.label("engine_type")), None
    )
    role = _ROLES.get(str(engine_type.value)) if engine_type else None
    return found | {
        "role": Fact(role.value, engine_type.seen) if role and engine_type else _role(model) if model else None,
        "pool_tokens": pool if pool and pool.value else None,
        "page_size": _gauge(metrics, "sglang:page_size"),
        "model": model.text("model_path") if model else None,
    }


def _engine_elsewhere(pages: Pages) -> Fact | None:
    gauge = next(iter(pages.metrics("sglang:")), None)
    if gauge:
        return Fact(Engine.SGLANG.value, Evidence(file=gauge.url, line=None, text=gauge.name))
    card = pages.owned_by("sglang")
    return Fact(Engine.SGLANG.value, card.seen("owned_by", "sglang")) if card else None


def _gauge(metrics: dict[str, Metric], name: str) -> Fact | None:
    fact = metrics[name].count() if name in metrics else None
    return fact if fact and fact.value else None


def _first_seen(info: Fields) -> Evidence:
    name = "max_total_num_tokens" if info.has("max_total_num_tokens") else _MODE
    return info.seen(name, info.fields[name])


def _role(info: Fields) -> Fact | None:
    mode = info.text(_MODE)
    role = _ROLES.get(str(mode.value)) if mode else None
    return Fact(role.value, mode.seen) if role and mode else None


def _is_half(info: Fields) -> bool:
    return info.fields.get(_MODE) in {"prefill", "decode"}


def _memories(info: Fields) -> tuple[Fields, ...]:
    """What each DP rank says of its memory."""
    return tuple(memory for state in info.each("internal_states") if (memory := state.inner("memory_usage")))


def _pool(info: Fields) -> Fact | None:
    ranks = (memory.positive("token_capacity") for memory in _memories(info))
    return least(info.positive("max_total_num_tokens"), *ranks)


def _kv_dtype(info: Fields) -> Fact | None:
    dtype = info.text("kv_cache_dtype")
    return dtype if dtype and dtype.value != "auto" else None


def _cuda_graph(info: Fields) -> Fact | None:
    disabled = info.switch("disable_cuda_graph")
    return Fact(not disabled.value, disabled.seen) if disabled else None


def _canary(info: Fields) -> Fact | None:
    """The answer is whole: a setting that is not in it does not exist in this version."""
    if not info.has("kv_canary") and info.has("page_size", _MODE):
        return Fact("none", info.seen("kv_canary", "(no such setting)"))
    return info.text("kv_canary")


def _checksum(info: Fields) -> Fact | None:
    if not info.has(_CHECKSUM) and info.has("page_size", _MODE):
        return Fact(value=False, seen=info.seen(_CHECKSUM, "(no such setting)"))
    return info.switch(_CHECKSUM)
