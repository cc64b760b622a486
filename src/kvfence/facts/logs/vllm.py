"""vLLM's log lines, 0.2 to 0.32 and under Dynamo: what each one says. What follows from all is `vllm_facts`.

V0 prints numbers of blocks and, when the pool is too small, the pool in tokens; V1 prints the pool in tokens
(`GPU KV cache size: N tokens`, also for CPU) and the context in the line on concurrency.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kvfence.facts.fact import Engine, Kind
from kvfence.facts.flags import canonical
from kvfence.facts.logs import launch, settings
from kvfence.facts.logs.statement import COUNT, Happened, Message, Phase, Said, Statement, number, own

_RANK = re.compile(r"\(EngineCore(_DP\d+|_\d+)?\b")
_VERSION = r"v?(?P<version>\d+\.\d+[\w.+-]*)"
_LAUNCH = re.compile(
    r"(?:\bvllm serve\s+(?=[^\s\[<])|vllm\.entrypoints\.openai\.api_server\s+(?=.*--model[ =](?!<)\S))"
)
_SETTINGS = re.compile(r"(?:non-default args: (?=\{)|\bargs: Namespace(?=\())")
_ENGINE_CONFIG = re.compile(rf"Initializing an? (?:V1 )?(?:LLM )?engine(?: \({_VERSION}\))? with config: (?=\w+=)")
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
}
_KV_ROLE = re.compile(r"""\bkv_role['"]?\s*[:=]\s*['"]?(kv_\w+)""")
_KV_CONNECTOR = re.compile(r"""\bkv_connector['"]?\s*[:=]\s*['"]?(\w+)""")
_NUMBER = r"(?<![\w.,-])([0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,15})"
"""With thousands set apart, as V1 prints it, or plain. `229,28520` is neither, and no number is read from it."""
_TOKENS = rf"{_NUMBER} tokens"
SayFrom = Callable[[re.Match[str]], Iterator[Said | Happened]]


def _says(name: str) -> SayFrom:
    return lambda match: iter((Said(name, number(match[1])),))


def _text(name: str) -> SayFrom:
    return lambda match: iter((Said(name, match[1]),))


def _happens(kind: Kind) -> SayFrom:
    return lambda _match: iter((Happened(kind),))


def _pool(match: re.Match[str]) -> Iterator[Said]:
    yield Said("pool", number(match[1]))
    if match[2]:
        yield Said("context.line", number(match[2]))


def _too_small(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("context.line", number(match[1]))
    yield Said("stored", number(match[2]))
    yield Happened(Kind.WILL_NOT_START)


def _needs_more(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("context.line", number(match[1]))
    yield Happened(Kind.WILL_NOT_START)


_LINES: tuple[tuple[str, str, SayFrom], ...] = (
    (
        "KV cache size: ",
        rf"\b(?:[A-Z]{{3}} )?KV cache size: {_TOKENS}(?:, Maximum concurrency for {_TOKENS} per request)?",
        _pool,
    ),
    ("Maximum concurrency for", rf"\bMaximum concurrency for {_TOKENS} per request", _says("context.line")),
    (" blocks: ", rf"# (?:GPU|cuda|cpu|CPU|rocm|xpu|hpu|tpu) blocks: {COUNT}", _says("blocks")),
    ("num_gpu_blocks is", rf"num_gpu_blocks is: {COUNT}", _says("blocks")),
    (
        "stored in KV cache (",
        rf"max seq len \({COUNT}\) is larger than the maximum number of .* stored in KV cache \({COUNT}\)",
        _too_small,
    ),
    (
        "To serve at least one request",
        rf"To serve at least one request with the model s max seq len \({COUNT}\)",
        _needs_more,
    ),
    ("Using max model len", rf"\bUsing max model len {COUNT}", _says("context.line")),
    ("server version", r"\bvLLM (?:API )?server version v?(\d+\.\d+[\w.+-]*)", _text("version")),
    (
        "Setting attention block size",
        rf"\bSetting attention block size to {COUNT} tokens",
        _says("block_size.line"),
    ),
    ("Forcing kv cache block size", rf"\bForcing kv cache block size to {COUNT}", _says("block_size.line")),
    ("data type to store kv cache", r"\bUsing (fp8\w*) data type to store kv cache", _text("kv_dtype.line")),
    ("Creating v1 connector", r"\bCreating v1 connector with name: (\w+)", _text("connector")),
    (
        "Potentially invalid KV blocks",
        r"\bPotentially invalid KV blocks for unrecognized request",
        _happens(Kind.EXPIRED_READ),
    ),
    ("Releasing expired KV blocks", r"\bReleasing expired KV blocks", _happens(Kind.RELEASED_UNDRAINED)),
)
_MESSAGES = tuple(Message(stem, re.compile(pattern), say) for stem, pattern, say in _LINES)


def read(text: str) -> Statement | None:
    """What a vLLM line says; None if it is no line that this reader knows."""
    # The only apostrophe in a message that we read; everywhere else a quote means that the text is somebody's.
    plain = text.replace("model's max seq len", "model s max seq len", 1) if "model's" in text else text
    if started := _read_start(text):
        return started
    for message in _MESSAGES:
        says = message.says(plain)
        if says is not None:
            return _statement(text, says)
    return None


def _statement(text: str, says: tuple[Said | Happened, ...]) -> Statement:
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
    if match := _LAUNCH.search(text) if "vllm" in text else None:
        said = [*_flagged(launch.parse(text, match.end())), *_connected(text)]
        return Statement(engine=Engine.VLLM, said=tuple(said), phase=Phase.LAUNCH)
    return None


def _configured(dump: settings.Settings, where: str) -> Iterator[Said]:
    for name, pair in dump.pairs.items():
        if name in _SETTING_NAMES and pair.value is not None:
            yield Said(f"set.{_SETTING_NAMES[name]}", pair.value, f"{where}: {pair.text}")


def _flagged(command: launch.Launch) -> Iterator[Said]:
    for flag, value in command.flags.items():
        name = canonical(Engine.VLLM, flag)
        parsed = settings.literal(value)
        if name in _SETTING_NAMES and parsed is not None:
            yield Said(f"flag.{_SETTING_NAMES[name]}", parsed, command.text(flag))


def _connected(text: str) -> Iterator[Said]:
    """The KV connector and its role, wherever in the settings they stand."""
    text = _json_unescaped(text)
    if role := _KV_ROLE.search(text):
        yield Said("kv_role", role[1], role[0])
    if connector := _KV_CONNECTOR.search(text):
        yield Said("connector", connector[1], connector[0])


def _json_unescaped(text: str) -> str:
    return text.replace('\\"', '"') if '\\"' in text else text
