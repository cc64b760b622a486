"""Settings as Python prints them: `{'page_size': 16, …}`, `ServerArgs(page_size=16, …)`, `page_size=16, …`.

Only the top level counts: a setting's value may itself be text that looks like settings. A line that was cut off
gives what stands before the cut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kvfence.facts.fact import Fact
from kvfence.facts.flags import Kind

_KEY = re.compile(r"""\s*(?:'(\w+)'|"(\w+)"|(\w+))\s*[:=]\s*""")
_PIECE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^'"()\[\]{},]+|[()\[\]{},]""", re.DOTALL)
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_WORDS: Mapping[str, bool] = {"True": True, "true": True, "False": False, "false": False}
_VALUE_SHOWN_CHARS = 60

SettingValue = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Setting:
    """A value, None where the engine prints none, and the text of the pair."""

    value: SettingValue
    text: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The pairs of one dump."""

    pairs: Mapping[str, Setting]
    complete: bool
    """Its closing bracket was seen: a name that is not there is not a setting of this version."""


def parse(text: str, at: int) -> Settings:
    """The settings whose opening bracket, or whose first name, stands at `at`."""
    opened = text[at : at + 1] in _OPEN
    at += opened
    pairs: dict[str, Setting] = {}
    while key := _KEY.match(text, at):
        value_end, last = _value_end(text, key.end())
        name = key.group(1) or key.group(2) or key.group(3)
        if last == "":
            # The line ends inside this value: `681` may be the head of `681280`.
            return Settings(pairs, complete=False)
        raw = text[key.end() : value_end].strip()
        if last == "," and not _goes_on(text, value_end + 1):
            # `1` may be the head of `1,048,576`.
            return Settings(pairs, complete=False)
        pairs.setdefault(name, Setting(literal(raw), _pair(text, key, raw)))
        if last != ",":
            return Settings(pairs, complete=opened)
        at = value_end + 1
    return Settings(pairs, complete=opened and text[at:].lstrip()[:1] in _CLOSE)


def typed(fact: Fact | None, kind: Kind) -> Fact | None:
    """A setting as a fact of its kind; none of another, as `${PORT:-30000}` is no number, and none of a secret."""
    match kind:
        case _ if fact is None:
            return None
        case Kind.NUMBER:
            return fact if type(fact.value) is int else None
        case Kind.SWITCH:
            return fact if type(fact.value) is bool else None
        case Kind.TEXT | Kind.FRACTION:
            return Fact(str(fact.value), fact.seen) if type(fact.value) is not bool else None
        case Kind.SECRET:
            return None


def literal(raw: str) -> SettingValue:
    """A printed value as a value; what is neither number, truth, None nor quoted stays as it is printed."""
    if raw in {"None", "null", ""}:
        return None
    if raw in _WORDS:
        return _WORDS[raw]
    if re.fullmatch(r"-?[0-9]{1,18}", raw):
        return int(raw)
    quoted = re.fullmatch(r"""(?P<q>['"])(?P<inside>.*)(?P=q)""", raw, re.DOTALL)
    return quoted["inside"] if quoted else raw


def _goes_on(text: str, at: int) -> bool:
    """Whether another pair, or the end of the dump, stands there."""
    return bool(_KEY.match(text, at)) or text[at:].lstrip()[:1] in _CLOSE


def _value_end(text: str, at: int) -> tuple[int, str]:
    """Where the value at `at` ends, and the character that ends it; none if the text ends first."""
    depth = 0
    while piece := _PIECE.match(text, at):
        first = piece.group()
        if depth == 0 and (first == "," or first in _CLOSE):
            return at, first
        depth += (first in _OPEN) - (first in _CLOSE)
        at = piece.end()
    return at, ""


def _pair(text: str, key: re.Match[str], raw: str) -> str:
    shown = raw if len(raw) <= _VALUE_SHOWN_CHARS else f"{raw[:_VALUE_SHOWN_CHARS]}…"
    return f"{text[key.start() : key.end()].strip()} {shown}" if ":" in key.group() else f"{key.group().strip()}{shown}"
