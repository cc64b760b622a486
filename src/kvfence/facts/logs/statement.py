"""What one line of a log says, before it is known which server it is of. Readers make these; `starts` sorts them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from kvfence.facts.fact import Engine, Kind

LEAD_CHARS_MAX = 200
_SOMEBODYS = re.compile(r"['\"{}]")


COUNT = r"(?<![\w.,-])([0-9]{1,15})(?!\w|[.,][0-9])"
"""A whole number that stands alone. `6x4`, `51.2`, `-1` and `128²` are none, and no part of them is one."""

ASKED = r"(?<![\w.,-])(?P<asked>[0-9]{1,15})(?!\w|[.,][0-9])"
"""The same, where it is the length that a request asked for."""


def own(stem: str, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The pattern's match, where nothing but time, level, process and module stands before it.

    `stem` stands in every such line; it is looked for first, since most lines are of another kind.

    No quote and no brace: a message that stands inside a customer's prompt, in a log of requests, is never taken for
    the engine's own.
    """
    match = pattern.search(text) if stem in text else None
    if match is None or match.start() > LEAD_CHARS_MAX or _SOMEBODYS.search(text, 0, match.start()):
        return None
    return match


class Phase(IntEnum):
    """How far into its start a server is when it prints a line; a step back means that another start began."""

    LAUNCH = 0
    SETTINGS = 1
    POOL = 2


@dataclass(frozen=True, slots=True)
class Said:
    """One thing: a name within the engine's reader, a value, and the part of the line that says it."""

    name: str
    value: str | int | bool
    text: str = ""
    """Empty: the whole line, cut."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing that happened at run time."""

    kind: Kind
    asked_tokens: int | None = None
    request: str | None = None
    """The request, or the room, that the line is about: an identifier, never its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """All that one line says."""

    engine: Engine
    said: tuple[Said, ...] = ()
    happened: tuple[Happened, ...] = ()
    phase: Phase | None = None
    """None: printed at any time, or more than once a start."""
    rank: str = ""
    node: str | None = None
    """The name that the line itself gives its node."""
    match: re.Match[str] | None = field(default=None, compare=False, repr=False)
    """Set where another line that differs only in the groups `asked` and `request` says the same of another request."""


def number(digits: str) -> int:
    """`1,048,576` as a number."""
    return int(digits.replace(",", ""))


@dataclass(frozen=True, slots=True)
class Message:
    """One kind of line: how it is recognised, and what it says."""

    stem: str
    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], Iterator[Said | Happened]]

    def found_in(self, text: str) -> re.Match[str] | None:
        """Where the line is of this kind, if it is."""
        return own(self.stem, self.pattern, text)
