"""The lines that kvfence's own cell prints: one per worker at its start, one for each prompt that it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kvfence.facts.fact import Engine, Fact, Kind
from kvfence.facts.logs.evidence import Heard
from kvfence.facts.logs.statement import LEAD, Happened, Phase, Said, Statement

_LINE = re.compile(LEAD + r"\bkvfence cell (?P<what>start|refused): (?P<pairs>(?:\w+=\S+ ?)+)$")
_NUMBERS = ("pool_tokens", "context_length", "page_size", "tp_size", "usable_tokens")
_TEXTS = ("engine_version", "role", "rules", "kv_dtype", "checks")


def read(text: str) -> Statement | None:
    """What a line of the cell says; None if it is not one."""
    match = _LINE.match(text.rstrip())
    if not match:
        return None
    pairs = dict(pair.split("=", 1) for pair in match["pairs"].split())
    if "worker" not in pairs:
        return None
    if match["what"] == "refused":
        asked = pairs.get("prompt_tokens", "")
        happened = (Happened(Kind.REFUSED, int(asked) if asked.isdigit() else None),)
        return Statement(engine=Engine.CELL, happened=happened, node=pairs["worker"])
    return Statement(engine=Engine.CELL, said=tuple(_said(pairs)), phase=Phase.POOL, node=pairs["worker"])


def resolve(heard: Heard) -> dict[str, Fact]:
    """The facts by name: the start line says them all."""
    found = {name: heard.last(name) for name in (*_NUMBERS, *_TEXTS)}
    found["usable_length"] = found.pop("usable_tokens")
    return {name: fact for name, fact in found.items() if fact is not None}


def _said(pairs: Mapping[str, str]) -> Iterator[Said]:
    for name in _TEXTS:
        if name in pairs:
            yield Said(name, pairs[name])
    for name in _NUMBERS:
        if pairs.get(name, "").isdigit():
            yield Said(name, int(pairs[name]))
