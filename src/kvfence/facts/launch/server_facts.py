"""A server that will be launched, as a node: what its flags, its settings file and its environment make of it.

What is set is known; what the pool will hold is not, and no fact here stands for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from kvfence.facts import two_way_kv
from kvfence.facts.fact import Engine, Fact, Role
from kvfence.facts.launch.arguments import Arguments
from kvfence.facts.launch.beside import Beside
from kvfence.facts.launch.places import Places
from kvfence.facts.launch.servers import Server
from kvfence.facts.launch.settings_file import read_settings_file
from kvfence.facts.logs.sglang_checks import checks_on
from kvfence.facts.logs.vllm_facts import ONE_NAME, STORES
from kvfence.findings.finding import Evidence

_MODES = {"null": Role.UNIFIED, "prefill": Role.PREFILL, "decode": Role.DECODE}
_KV_ROLES = {"kv_producer": Role.PREFILL, "kv_consumer": Role.DECODE}
_DYNAMO_ROLES = {"prefill": Role.PREFILL, "decode": Role.DECODE, "agg": Role.UNIFIED}
_NUMBERS_BY_DEFAULT = (
    ("tp_size", "tp_size", "tensor_parallel_size", 1),
    ("pp_size", "pp_size", "pipeline_parallel_size", 1),
    ("dp_size", "dp_size", "data_parallel_size", 1),
)
Defaults = tuple[tuple[str, str, str | int | bool], ...]
_CHECKS_BY_DEFAULT: Defaults = (
    ("kv_canary", "kv_canary", "none"),
    ("kv_checksum", "disaggregation_enable_kv_checksum", False),
    ("allow_auto_truncate", "allow_auto_truncate", False),
)
_ADDRESSES: dict[Engine, Defaults] = {
    Engine.SGLANG: (("host", "host", "127.0.0.1"), ("port", "port", 30000)),
    Engine.VLLM: (("host", "host", "0.0.0.0"), ("port", "port", 8000)),  # noqa: S104 — what vLLM binds, not we
}
_BOOTSTRAP_PORT = 8998
_SIDE_CHANNEL_PORT = 5600
_AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Launched:
    """The facts of one server, and what of it is not known before it runs."""

    facts: dict[str, Fact]
    gaps: tuple[str, ...]


def facts_of(server: Server, *, places: Places, beside: Beside, closed: bool = True) -> Launched:
    """What a server is launched with. `beside` is where its settings file is looked for.

    Nothing is claimed of what is not there unless its command is closed: nothing else can be added to it.
    """
    arguments = Arguments.of(server.engine, server.arguments, places)
    where = places.told(server.start.line)
    config = read_settings_file(arguments, beside)
    closed = closed and not arguments.open_ends and config is None
    seen = arguments.evidence(server.start.line, _started_as(server))
    found = {"engine": Fact(server.engine.value, seen), **arguments.facts()}
    specific = _sglang if server.engine is Engine.SGLANG else _vllm
    found |= specific(server, arguments, closed=closed)
    if closed:
        found = {**dict(_by_default(server, arguments)), **found}
    if server.engine is Engine.SGLANG:
        checks = checks_on(found.get("kv_canary"), found.get("kv_checksum"))
        found |= {"checks": checks} if checks else {}
    if found.get("kv_dtype") and found["kv_dtype"].value == _AUTO:
        del found["kv_dtype"]
    gaps = (*([f"{where}: {config}"] if config else []), *arguments.gaps(where), *_gaps(server, where))
    return Launched({name: fact for name, fact in found.items() if fact.value != ""}, gaps)


def _started_as(server: Server) -> str:
    text = server.start.text
    return text if "." in text or "/" in text else f"{text} serve"


def _absent(server: Server, arguments: Arguments, name: str, value: str | int | bool) -> Fact:  # noqa: FBT001 — a setting's value
    flag = "--" + name.replace("_", "-")
    return Fact(value, arguments.evidence(server.start.line, f"{_started_as(server)} without {flag}"))


def _by_default(server: Server, arguments: Arguments) -> Iterator[tuple[str, Fact]]:
    """What holds because nothing is asked, in every version read."""
    engine = server.engine
    for fact, sglang, vllm, value in _NUMBERS_BY_DEFAULT:
        name = sglang if engine is Engine.SGLANG else vllm
        if not arguments.has(name):
            yield fact, _absent(server, arguments, name, value)
    switches = _CHECKS_BY_DEFAULT if engine is Engine.SGLANG else ()
    addresses = () if server.dynamo else _ADDRESSES[engine]
    for fact, flag, default in (*switches, *addresses):
        if not arguments.has(flag):
            yield fact, _absent(server, arguments, flag, default)


def _sglang(server: Server, arguments: Arguments, *, closed: bool) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    mode = arguments.fact("disaggregation_mode")
    if mode:
        role = _MODES.get(str(mode.value))
        found["role"] = Fact(role.value if role else "", mode.seen)
    elif closed and not arguments.has("disaggregation_mode"):
        found["role"] = _absent(server, arguments, "disaggregation_mode", Role.UNIFIED.value)
    if (
        closed
        and found.get("role")
        and found["role"].value == Role.PREFILL
        and not arguments.has("disaggregation_bootstrap_port")
    ):
        found["bootstrap_port"] = _absent(server, arguments, "disaggregation_bootstrap_port", _BOOTSTRAP_PORT)
    if arguments.has("disable_cuda_graph"):
        flag = arguments.flags["disable_cuda_graph"]
        found["cuda_graph"] = Fact(value=False, seen=arguments.evidence(flag.at.line, flag.text))
    return found


def _vllm(server: Server, arguments: Arguments, *, closed: bool) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    if arguments.positional and not arguments.has("model") and not server.dynamo:
        model = arguments.positional[0]
        found["model"] = Fact(model.text, arguments.evidence(model.line, model.text))
    found |= _connected(server, arguments, closed=closed)
    if arguments.has("enforce_eager"):
        flag = arguments.flags["enforce_eager"]
        found["cuda_graph"] = Fact(value=False, seen=arguments.evidence(flag.at.line, flag.text))
    backend = server.env.get("VLLM_ATTENTION_BACKEND")
    if backend and backend.known and not arguments.has("attention_backend"):
        text = f"VLLM_ATTENTION_BACKEND={backend.text}"
        found["attention_backend"] = Fact(backend.text, arguments.evidence(backend.line, text))
    return found


def _connected(server: Server, arguments: Arguments, *, closed: bool) -> dict[str, Fact]:
    """Role and connector. A connector that carries KV, without a part for this server, says no role."""
    flag = arguments.flags.get("kv_transfer_config")
    mode = arguments.text("disaggregation_mode") if server.dynamo else None
    found: dict[str, Fact] = {}
    if mode in _DYNAMO_ROLES:
        at = arguments.flags["disaggregation_mode"]
        found["role"] = Fact(_DYNAMO_ROLES[mode].value, arguments.evidence(at.at.line, at.text))
    for old, role in (("is_prefill_worker", Role.PREFILL), ("is_decode_worker", Role.DECODE)):
        if server.dynamo and arguments.has(old):
            found["role"] = Fact(
                role.value, arguments.evidence(arguments.flags[old].at.line, arguments.flags[old].text)
            )
    if flag is None:
        if closed and not server.dynamo and not any(name.startswith("kv_transfer_config") for name in arguments.flags):
            found["role"] = _absent(server, arguments, "kv_transfer_config", Role.UNIFIED.value)
        return found
    config = _json_object(flag.value.text if flag.value else "")
    seen = arguments.evidence((flag.value or flag.at).line, flag.text)
    connector, kv_role = config.get("kv_connector"), config.get("kv_role")
    if isinstance(connector, str) and "$" not in connector:
        found["transfer_backend"] = Fact(ONE_NAME.get(connector, connector), seen)
        found |= _two_ways(config, seen)
    if isinstance(kv_role, str) and kv_role in _KV_ROLES and "role" not in found:
        found["role"] = Fact(_KV_ROLES[kv_role].value, seen)
    elif connector in STORES and "role" not in found:
        found["role"] = Fact(Role.UNIFIED.value, seen)
    if isinstance(connector, str) and connector.startswith("Nixl"):
        found |= _side_channel(server, arguments)
    return found


def _two_ways(config: dict[str, object], seen: Evidence) -> dict[str, Fact]:
    both = two_way_kv.configured(config)
    return {} if both is None else {"kv_two_ways": Fact(both, seen)}


def _side_channel(server: Server, arguments: Arguments) -> dict[str, Fact]:
    """Where a peer asks for the blocks' addresses: vLLM's counterpart of a bootstrap port."""
    port = server.env.get("VLLM_NIXL_SIDE_CHANNEL_PORT")
    if port is None:
        text = f"{_started_as(server)} without VLLM_NIXL_SIDE_CHANNEL_PORT"
        return {"bootstrap_port": Fact(_SIDE_CHANNEL_PORT, arguments.evidence(server.start.line, text))}
    if not (port.known and port.text.isascii() and port.text.isdigit() and len(port.text) < 6):  # noqa: PLR2004 — 65535
        return {}
    return {
        "bootstrap_port": Fact(
            int(port.text), arguments.evidence(port.line, f"VLLM_NIXL_SIDE_CHANNEL_PORT={port.text}")
        )
    }


def _json_object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _gaps(server: Server, where: str) -> Iterator[str]:
    if server.perhaps:
        yield f"{where}: this server is started under a condition, in a loop or in a function; whether, was not decided"
    if server.dynamo:
        yield f"{where}: Dynamo starts this engine and may set more than its command says; give the worker's log"
