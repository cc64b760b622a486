"""One past request and its answer, in the form that every log format is turned into. No format lives here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Coverage(StrEnum):
    """How much of a text its log kept. Only `WHOLE` can be called clean."""

    WHOLE = "whole"
    CUT = "cut"
    """Shortened by the store: near-limit prompts are the first that are."""
    ENCRYPTED = "encrypted"
    OMITTED = "omitted"
    """The store has none. A request that was refused (4xx) has the whole of its answer: no text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an exchange stands, so that it can be found and read again."""

    source: int
    """Which of the inputs, by its number in their order."""
    offset: int
    """The byte at which its line begins in the unpacked file, and n more for the n-th exchange of one line; the number
    of its row where the file has rows."""
    line: int
    """Of the file, from 1; the number of its row, from 1, where the file has rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and what was answered. Absent is None, and is never guessed."""

    place: Place
    id: str
    """As the log has it, or made of its place where it has none."""
    tenant: str | None
    session: str | None
    """What one conversation has in common: its later prompts repeat its earlier answers."""
    model: str | None
    provider: str | None
    began_ms: int | None
    """Milliseconds since 1970, UTC."""
    ended_ms: int | None
    status: int | None
    """Of HTTP; 200 where the log says success in another way, 500 where it says failure."""
    finish: str | None
    """Why the answer ended, in the format's own word."""
    prompt: str
    """All that was sent as text, in order: instructions, messages, tools' results. Decoded, not as JSON."""
    prompt_coverage: Coverage
    answer: str
    """All that came back as text: content, reasoning, arguments of tool calls. Streams are put together."""
    answer_coverage: Coverage
    prompt_tokens: int | None
    answer_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A line, a row or a file that could not be made an exchange: counted and told, never dropped in silence."""

    source: int
    line: int | None
    """None for a whole file."""
    why: str
    """What was met and what to do, without any of the text."""
