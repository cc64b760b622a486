"""What a log format is, and what is handed from one to the reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from kvfence.scan.exchange import Coverage, Exchange, Place, Unread
from kvfence.scan.reading.record import Record
from kvfence.scan.reading.source import Source


class NotThisError(ValueError):
    """A record that its format cannot make an exchange of; the message says why, without any of its text."""


@dataclass(frozen=True, slots=True)
class Said:
    """A text of an exchange, and how much of it there is."""

    text: str
    coverage: Coverage = Coverage.WHOLE


NOTHING = Said("", Coverage.OMITTED)
ENCRYPTED = Said("", Coverage.ENCRYPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a response says besides its text."""

    said: Said = NOTHING
    id: str | None = None
    model: str | None = None
    finish: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    began_ms: int | None = None
    session: str | None = None

    def saying(self, said: Said) -> Self:
        """The same with another text."""
        return replace(self, said=said)


class Reader(Protocol):
    """Reads the records of one source in their order, and may remember some until their other half comes."""

    def read(self, record: Record) -> Iterable[Exchange | Unread]:
        """What can be said with this record.

        Raises:
            NotThisError: it is none of this format.
        """

    def rest(self) -> Iterable[Exchange | Unread]:
        """What is left where no more records come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A log format by its name."""

    name: str
    title: str
    knows: Callable[[Record], bool]
    """Whether a record looks like one of it, by the names of its fields."""
    reader: Callable[[Source], Reader]
    is_joined: bool = False
    """Whether one exchange may be made of several records, so that a file cannot be read in parts."""
    has_other_lines: bool = False
    """Whether lines that are nothing of it are expected, as in a server's log."""


class Each:
    """The reader of a format that has each exchange in one record."""

    def __init__(self, exchanges_of: Callable[[Mapping[str, Any], Place], Iterable[Exchange]]) -> None:
        self._exchanges_of = exchanges_of

    def read(self, record: Record) -> Iterable[Exchange | Unread]:
        """The exchanges of this record."""
        if isinstance(record.value, str):
            raise NotThisError("not a JSON object")
        return self._exchanges_of(record.value, record.place)

    def rest(self) -> Iterable[Exchange | Unread]:
        """Nothing."""
        return ()
