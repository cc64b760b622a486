"""The lines that kvfence's own cell prints: one per worker at its start, one for each refusal and each failed check."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kvfence.facts.fact import Engine, Fact, Kind
from kvfence.facts.logs.evidence import Heard
from kvfence.facts.logs.statement import Happened, Phase, Said, Statement, own

_LINE = re.compile(r"\bkvfence cell (?P<what>start|refused|check): (?P<pairs>(?:\w+=\S+ ?)+)")
_NUMBERS = ("pool_tokens", "context_length", "page_size", "tp_size", "usable_tokens")
STEMS = ("kvfence cell ",)
"""Every line that this reader understands has one of these."""
_CHECKS = {"I1", "I2-count", "I2-digest", "I3", "I4", "I5"}
_TEXTS = ("engine_version", "role", "rules", "kv_dtype", "checks")


def read(text: str) -> Statement | None:
    """What a line of the cell says; None if it is not one."""
    match = own("kvfence cell ", _LINE, text)
    if not match:
        return None
    pairs = dict(pair.split("=", 1) for pair in match["pairs"].split())
    if "worker" not in pairs:
        return None
    if match["what"] == "refused":
        happened = (Happened(Kind.REFUSED, _number(pairs.get("prompt_tokens", ""))),)
        return Statement(engine=Engine.CELL, happened=happened, node=pairs["worker"])
    if match["what"] == "check":
        room = pairs.get("room", "")
        failed = Happened(Kind.CHECK_FAILED, request=f"room {room}" if room.isdecimal() else None)
        return Statement(engine=Engine.CELL, happened=(failed,), node=pairs["worker"])
    return Statement(engine=Engine.CELL, said=tuple(_said(pairs)), phase=Phase.POOL, node=pairs["worker"])


def resolve(heard: Heard) -> dict[str, Fact]:
    """The facts by name: the start line says them all."""
    found = {name: heard.last(name) for name in (*_NUMBERS, *_TEXTS)}
    found["usable_length"] = found.pop("usable_tokens")
    return {name: fact for name, fact in found.items() if fact is not None}


def _said(pairs: Mapping[str, str]) -> Iterator[Said]:
    for name in _TEXTS:
        # A list that was cut off ends in no known check; then nothing is said of any.
        if name in pairs and (name != "checks" or _is_whole(pairs[name])):
            yield Said(name, pairs[name])
    for name in _NUMBERS:
        number = _number(pairs.get(name, ""))
        if number is not None:
            yield Said(name, number)


def _number(digits: str) -> int | None:
    return int(digits) if re.fullmatch(r"[0-9]{1,15}", digits) else None


def _is_whole(checks: str) -> bool:
    return checks == "none" or set(checks.split(",")) <= _CHECKS
