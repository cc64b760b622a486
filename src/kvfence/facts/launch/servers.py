"""Which words of a command start a server, and of which engine. What its flags mean is `arguments`' affair."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from kvfence.facts.fact import Engine
from kvfence.facts.launch.shell import read_script
from kvfence.facts.launch.words import Command, Word

_MODULES = {
    "sglang.launch_server": Engine.SGLANG,
    "dynamo.sglang": Engine.SGLANG,
    "vllm.entrypoints.openai.api_server": Engine.VLLM,
    "vllm.entrypoints.api_server": Engine.VLLM,
    "dynamo.vllm": Engine.VLLM,
}
_PROGRAMS = {"sglang": Engine.SGLANG, "vllm": Engine.VLLM}
_ROUTER_MODULES = frozenset({"sglang_router.launch_router", "sglang.srt.disaggregation.mini_lb", "vllm_router.app"})
_ROUTER_PROGRAMS = frozenset(
    {"sglang-router", "sgl-router", "smg", "vllm-router", "pd-sidecar", "llm-d-routing-sidecar"}
)
_ROUTER_SCRIPT = re.compile(r"(?:proxy(?:_server|_demo)?|mini_lb)\.py$")
_ROUTER_IMAGE = re.compile(r"(?:routing-sidecar|vllm-router|sglang-router|sgl-router|lmstack-router)(?:[:@]|$)")
_VLLM_IMAGE = re.compile(r"(?:^|/)vllm-openai(?:[:@]|$)")
"""Its entry point is the server, so that what follows is the server's arguments."""
_ONLY_TALK = frozenset(
    {"echo", "printf", "grep", "pgrep", "pkill", "kill", "curl", "cat", "tee", "alias", "which", "log"}
)
_SCRIPT_CHARS_MAX = 65_536
_DEPTH_MAX = 3
MENTIONS = re.compile(
    r"sglang[. /_-]\S*launch_server|\bsglang serve\b|\bvllm serve\b|vllm\.entrypoints|\bdynamo\.(?:sglang|vllm)\b"
)
"""What a text that starts a server holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A command that starts an engine."""

    engine: Engine
    start: Word
    arguments: tuple[Word, ...]
    before: tuple[Word, ...] = ()
    """What stands before it: `docker run -p …`, `numactl …`."""
    env: Mapping[str, Word] = field(default_factory=dict)
    perhaps: bool = False
    dynamo: bool = False
    """Dynamo runs the engine, and serves in its stead."""


@dataclass(frozen=True, slots=True)
class Router:
    """A command that starts what clients talk to, in front of prefill and decode."""

    start: Word
    program: str


def found_in(command: Command, *, depth: int = 0) -> Iterator[Server | Router]:
    """The servers and routers that a command starts, also inside `bash -c '…'`."""
    words = command.words
    if not words or PurePosixPath(words[0].text).name in _ONLY_TALK:
        return
    for index, word in enumerate(words):
        if _is_script(word, words[index - 1] if index else None) and depth < _DEPTH_MAX:
            inner = read_script(word.text[:_SCRIPT_CHARS_MAX], first_line=word.line, env=command.env)
            for one in inner.commands:
                perhaps = command.perhaps or one.perhaps
                yield from found_in(
                    Command(words=one.words, env={**command.env, **one.env}, perhaps=perhaps), depth=depth + 1
                )
            return
        begun = _begins(words, index)
        if begun is not None:
            yield from _started(command, index, *begun)
            return


def _started(command: Command, index: int, what: Engine | None, length: int) -> Iterator[Server | Router]:
    start = command.words[index]
    if what is None:
        yield Router(start, PurePosixPath(start.text).name)
        return
    arguments = command.words[index + length :]
    if any(word.text in {"--help", "-h"} for word in arguments[:1]):
        return
    dynamo = start.text.startswith("dynamo.")
    yield Server(
        engine=what,
        start=start,
        arguments=arguments,
        before=command.words[:index],
        env=command.env,
        perhaps=command.perhaps,
        dynamo=dynamo,
    )


def _begins(words: tuple[Word, ...], index: int) -> tuple[Engine | None, int] | None:
    """What starts at that word, and over how many words; None where nothing does."""
    text = words[index].text
    if index and words[index - 1].text == "-m":
        return _begins_as_module(text)
    name = PurePosixPath(text).name
    if name in _PROGRAMS and index + 1 < len(words) and words[index + 1].text == "serve":
        return _PROGRAMS[name], 2
    if name == "launch_server.py" and "sglang" in text:
        return Engine.SGLANG, 1
    if _is_entry_point(words, index):
        return Engine.VLLM, 1
    is_router = name in _ROUTER_PROGRAMS or _ROUTER_SCRIPT.search(name) or _ROUTER_IMAGE.search(text)
    return (None, 1) if is_router else None


def _begins_as_module(text: str) -> tuple[Engine | None, int] | None:
    module = text.removesuffix(".main").removesuffix(".__main__")
    if module in _MODULES:
        return _MODULES[module], 1
    return (None, 1) if module in _ROUTER_MODULES else None


def _is_entry_point(words: tuple[Word, ...], index: int) -> bool:
    """Whether it is vLLM's image in a `docker run` that names no other command."""
    if not _VLLM_IMAGE.search(words[index].text) or not any(word.text in {"run", "create"} for word in words[:index]):
        return False
    return not any(_begins(words, at) for at in range(index + 1, len(words)))


def is_vllm_image(image: str) -> bool:
    """Whether a container of that image starts vLLM without a command."""
    return bool(_VLLM_IMAGE.search(image))


def is_router_image(image: str) -> bool:
    """Whether a container of that image stands in front of workers."""
    return bool(_ROUTER_IMAGE.search(image))


def _is_script(word: Word, before: Word | None) -> bool:
    if not re.search(r"\s", word.text):
        return False
    is_option = before is not None and re.fullmatch(r"-[a-z]*c", before.text)
    return bool(is_option or MENTIONS.search(word.text))
