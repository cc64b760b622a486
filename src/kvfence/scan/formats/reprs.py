"""Python's `repr` of a text in a line of a log: how engines write prompts and answers. Read, never run."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

_LITERAL = re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"")
_CUT = " ... "
"""SGLang writes `'beginning' ... 'end'` for a text that it cuts."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that was read."""

    text: str
    end: int
    """Where the line goes on."""
    is_cut: bool


def literal_at(line: str, at: int) -> Literal | None:
    """The text whose `repr` begins here; None where none does, or its end is missing."""
    found = _LITERAL.match(line, at)
    if found is None:
        return None
    text, end = _value(found.group()), found.end()
    rest = _LITERAL.match(line, end + len(_CUT)) if line.startswith(_CUT, end) else None
    if rest is None:
        return Literal(text, end, is_cut=False)
    return Literal(f"{text}\n{_value(rest.group())}", rest.end(), is_cut=True)


def _value(literal: str) -> str:
    """A `repr` of a text as the text; as it stands where it is none after all."""
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError, MemoryError):
        return literal[1:-1]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else literal[1:-1]
