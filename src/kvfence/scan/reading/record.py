"""One record of a log as it was cut out of its file, and the limits on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvfence.scan.exchange import Place

BYTES_MAX = 64 << 20
"""Of one record as it is stored. A prompt of 1,048,576 tokens is about 5 MB, 20 MB where all of it is escaped."""
TOO_LONG = f"longer than {BYTES_MAX >> 20} MiB, so it was passed over; a request of a million tokens has about 5"


@dataclass(frozen=True, slots=True)
class Record:
    """What stands at one place."""

    place: Place
    value: Mapping[str, Any] | str
    """A JSON object, or a row by its columns' names; a line of text where it is no JSON."""


@dataclass(frozen=True, slots=True)
class Raw:
    """The bytes of one record, not yet looked at."""

    offset: int
    line: int
    content: bytes | None
    """None where it was longer than `BYTES_MAX`."""
    is_ended: bool = True
    """Whether the end of the record was seen; not so where the file was cut off in it."""
