"""One of the inputs, as it is handed to every process that reads it: what it is called and how it is read."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum

from kvfence.scan.mapping import FieldMapping
from kvfence.scan.reading.addresses import is_address


class Kind(StrEnum):
    """How records stand in a file."""

    LINES = "lines"
    """One a line: JSONL, or the lines of a program's log."""
    VALUES = "values"
    """JSON over several lines, or an array of objects."""
    CSV = "csv"
    PARQUET = "parquet"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file or an address. It can be pickled, and says all that reading it again needs."""

    number: int
    """In the order of the inputs, from 0."""
    target: str
    """As it is opened."""
    shown: str
    """As it is printed."""
    kind: Kind
    format: str
    """The name of the format that its first records have; empty where none was known."""
    is_asked: bool = False
    """Whether the user said so: what is none of it is not tried as another."""
    mapping: FieldMapping | None = None
    """What the user said of a format of their own."""
    beside: tuple[Source, ...] = ()
    """Other files without which this one does not say all: the requests of a batch, for its answers."""
    why: str = ""
    """Where it is unreadable: why, and what to do."""

    def rooted(self) -> Source:
        """The same where its paths are followed from another folder."""
        if is_address(self.target):
            return self
        target = os.path.abspath(self.target)  # noqa: PTH100 — a path may be any bytes
        return replace(self, target=target, beside=tuple(one.rooted() for one in self.beside))
