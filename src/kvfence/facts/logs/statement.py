"""What one line of a log says, before it is known which server it is of. Readers make these; `starts` sorts them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from kvfence.facts.fact import Engine, Kind

LEAD = r"^[^'\"{}]{0,200}?"
"""What may stand before an engine's message: time, level, process, module. No quote and no brace, so that a message
which stands inside a customer's prompt, in a log of requests, is never taken for the engine's own."""


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


def number(digits: str) -> int:
    """`1,048,576` as a number."""
    return int(digits.replace(",", ""))
