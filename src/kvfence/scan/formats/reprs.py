"""Python's `repr` of texts, objects and dictionaries in a line of a log. Read, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_STRING = r"'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\""
_LITERAL = re.compile(_STRING)
_PIECE = re.compile(rf"{_STRING}|[^'\"\[\](){{}},]+|.", re.DOTALL)
_NAME = re.compile(r"\s*(?:'(?P<key>[^'\\]*)': |(?P<field>\w+)=)")
_OPENS, _CLOSES = frozenset("[({"), frozenset("])}")
_QUOTES = frozenset("'\"")
_CUT = " ... "
"""SGLang writes `'beginning' ... 'end'` for a text that it cuts."""
_PLAIN_MAX = 64
"""Of a number, or of a word such as None."""
_DEPTH_MAX = 8


class CutText(str):
    """A text whose middle was left out."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that was read."""

    text: str
    end: int
    """Where the line goes on."""


def literal_at(line: str, at: int) -> Literal | None:
    """The text whose `repr` begins here; None where none does, or its end is missing."""
    found = _LITERAL.match(line, at)
    if found is None:
        return None
    text, end = _value(found.group()), found.end()
    rest = _LITERAL.match(line, end + len(_CUT)) if line.startswith(_CUT, end) else None
    if rest is None:
        return Literal(text, end)
    return Literal(CutText(f"{text}\n{_value(rest.group())}"), rest.end())


def members_at(line: str, at: int, depth: int = 0) -> tuple[dict[str, Any], int]:
    """The members of the `Name(field=…)` or `{'key': …}` that begins here, and where the line goes on.

    Texts, numbers, truths and dictionaries are given; other values, such as lists, are left out.
    """
    members: dict[str, Any] = {}
    start = end = at
    for start, end, is_last in _spans(line, at):
        found = _NAME.match(line, start, end)
        if found and depth < _DEPTH_MAX:
            members[found["key"] or found["field"]] = _member(line, found.end(), end, depth)
        if is_last:
            break
    return {name: value for name, value in members.items() if value is not None}, end + 1


def _spans(line: str, at: int) -> Iterator[tuple[int, int, bool]]:
    """Where each member begins and ends, and whether it is the last one."""
    depth, start = 0, at
    for piece in _PIECE.finditer(line, at):
        mark = piece.group()
        if mark in _OPENS:
            depth += 1
            if depth == 1:
                start = piece.end()
        elif mark in _CLOSES:
            depth -= 1
            if depth <= 0:
                yield start, piece.start(), True
                return
        elif mark == "," and depth == 1:
            yield start, piece.start(), False
            start = piece.end()
        elif mark in _QUOTES:
            return  # a text without its end: what follows cannot be told apart


def _member(line: str, at: int, end: int, depth: int) -> Any:
    if line[at : at + 1] == "{":
        return members_at(line, at, depth + 1)[0]
    literal = literal_at(line, at)
    if literal is not None:
        return literal.text
    return _plain(line[at:end]) if end - at <= _PLAIN_MAX else None


def _plain(text: str) -> Any:
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError):
        return text.strip() if text.startswith("<") else None
    return value if isinstance(value, int | float | bool) else None


def _value(literal: str) -> str:
    """A `repr` of a text as the text; as it stands where it is none after all."""
    if "\\" not in literal:
        return literal[1:-1]
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError, MemoryError):
        return literal[1:-1]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else literal[1:-1]
