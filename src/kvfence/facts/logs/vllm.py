"""vLLM's log lines, 0.2 to 0.33 and under Dynamo: what each one says. What follows from all is `vllm_facts`.

V0 prints numbers of blocks and, when the pool is too small, the pool in tokens; V1 prints the pool in tokens
(`GPU KV cache size: N tokens`, also for CPU) and the context in the line on concurrency.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kvfence.facts import two_way_kv
from kvfence.facts.fact import Engine
from kvfence.facts.flags import VLLM_SWITCHES, canonical
from kvfence.facts.logs import launch, settings
from kvfence.facts.logs.statement import Happened, Phase, Said, Statement, own
from kvfence.facts.logs.vllm_lines import EVENTS, LOGO, SIZES

_RANK = re.compile(r"\(EngineCore(_DP\d+|_\d+)?\b")
_VERSION = r"v?(?P<version>\d+\.\d+[\w.+-]*)"
_LAUNCH = re.compile(
    r"(?:\bvllm serve \s*(?=[^\s\[<])(?!(?:with|option|command)\b)"
    r"|vllm\.entrypoints\.openai\.api_server\s+(?=.*--model[ =](?!<)\S))"
)
_OWN_MESSAGE = re.compile(r"\b[A-Z]+ \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./-]+:\d+\] ")
"""vLLM speaks of `vllm serve` in messages of its own, such as the one that 0.32 prints at every start."""
_SETTINGS = re.compile(r"(?:non-default args: (?=\{)|\bargs: Namespace(?=\())")
_QUOTING = re.compile(r"\b(models?)'s max seq len")
_ENGINE_CONFIG = re.compile(rf"Initializing an? (?:V[01] )?(?:LLM )?engine(?: \({_VERSION}\))? with config: (?=\w+=)")
_SETTING_NAMES = {
    "max_seq_len": "context",
    "max_model_len": "context",
    "block_size": "block_size",
    "kv_cache_dtype": "kv_cache_dtype",
    "dtype": "dtype",
    "tensor_parallel_size": "tp_size",
    "pipeline_parallel_size": "pp_size",
    "data_parallel_size": "dp_size",
    "model": "model",
    "model_tag": "model",
    "port": "port",
    "host": "host",
    "quantization": "quantization",
    "gpu_memory_utilization": "mem_fraction",
    "enforce_eager": "enforce_eager",
    "device_config": "device",
    "device": "device",
    "attention_backend": "attention_backend",
}
_KV_ROLE = re.compile(r"""\bkv_role['"]?\s*[:=]\s*['"]?(kv_\w+)""")
_KV_CONNECTOR = re.compile(r"""\bkv_connector['"]?\s*[:=]\s*['"]?(\w+)""")
_DRAFT = re.compile(r"""\bmodel['"]?\s*[:=]\s*['"]([^'"]{1,200})['"]""")
_MESSAGES = (*EVENTS, *SIZES)
STEMS = (
    *(message.stem for message in _MESSAGES if message.stem != LOGO),
    *(f"█{LOGO}", f"2588{LOGO}"),
    *(" with config: ", "default args: ", "args: Namespace", "vllm serve ", "openai.api_server"),
)
"""Every line that this reader understands has one of these."""


def read(text: str) -> Statement | None:
    """What a vLLM line says; None if it is no line that this reader knows."""
    # The only apostrophe in a message that we read; everywhere else a quote means that the text is somebody's.
    plain = _QUOTING.sub(r"\1 s max seq len", text, count=1) if "'s max seq len" in text else text
    if started := _read_start(text):
        return started
    for message in _MESSAGES:
        if match := message.found_in(plain):
            return _statement(text, tuple(message.say(match)), match if message in EVENTS else None)
    return None


def _statement(text: str, says: tuple[Said | Happened, ...], event: re.Match[str] | None) -> Statement:
    said = tuple(one for one in says if isinstance(one, Said))
    names = {one.name for one in said}
    # A version line opens a start; sizes close it. Sizes may be printed once a worker, so they never open one.
    phase = Phase.LAUNCH if "version" in names else Phase.POOL if names & {"pool", "blocks", "stored"} else None
    return Statement(
        engine=Engine.VLLM,
        said=said,
        happened=tuple(one for one in says if isinstance(one, Happened)),
        phase=phase,
        rank=_rank(text),
        match=event,
    )


def _rank(text: str) -> str:
    rank = _RANK.match(text)
    return (rank[1] or "").strip("_") if rank else ""


def _read_start(text: str) -> Statement | None:
    if match := own(" with config: ", _ENGINE_CONFIG, text):
        said = [*_configured(settings.parse(text, match.end()), "config"), *_connected(text)]
        if match["version"]:
            said.append(Said("version", match["version"], match[0]))
        return Statement(engine=Engine.VLLM, said=tuple(said), phase=Phase.SETTINGS, rank=_rank(text))
    if match := own("args: ", _SETTINGS, text):
        said = [*_configured(settings.parse(text, match.end()), "args"), *_connected(text)]
        return Statement(engine=Engine.VLLM, said=tuple(said))
    if match := _LAUNCH.search(text) if "vllm" in text and not _OWN_MESSAGE.search(text) else None:
        said = [*_flagged(launch.parse(text, match.end())), *_connected(text)]
        return Statement(engine=Engine.VLLM, said=tuple(said), phase=Phase.LAUNCH)
    return None


def _configured(dump: settings.Settings, where: str) -> Iterator[Said]:
    for name, pair in dump.pairs.items():
        if name in _SETTING_NAMES and pair.value is not None:
            yield Said(f"set.{_SETTING_NAMES[name]}", pair.value, f"{where}: {pair.text}")
    draft = dump.pairs.get("speculative_config")
    if draft and (model := _DRAFT.search(str(draft.value))):
        yield Said("set.draft", model[1], f"{where}: speculative_config … {model[0]}")


def _flagged(command: launch.Launch) -> Iterator[Said]:
    for flag, value in command.flags.items():
        name = canonical(Engine.VLLM, flag)
        parsed = True if not value and name in VLLM_SWITCHES else settings.literal(value)
        if name in _SETTING_NAMES and parsed is not None:
            yield Said(f"flag.{_SETTING_NAMES[name]}", parsed, command.text(flag))


def _connected(text: str) -> Iterator[Said]:
    """The KV connector and its role, wherever in the settings they stand."""
    text = _json_unescaped(text)
    if role := _KV_ROLE.search(text):
        yield Said("kv_role", role[1], role[0])
    if connector := _KV_CONNECTOR.search(text):
        yield Said("connector", connector[1], connector[0])
        if two_ways := two_way_kv.printed(text):
            yield Said("kv_two_ways", two_ways[0], two_ways[1])


def _json_unescaped(text: str) -> str:
    return text.replace('\\"', '"') if '\\"' in text else text
