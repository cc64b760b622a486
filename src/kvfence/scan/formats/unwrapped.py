"""Records inside an answer of an API that was saved as it came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kvfence.scan.reading.record import Record

_NAMES = ("data", "result", "results", "logs", "records", "items", "rows", "observations", "generations", "spans")


def unwrapped(record: Record) -> Iterator[Record]:
    """The records of the list that this one wraps, if it wraps one; the n-th is placed n bytes behind its beginning."""
    value = record.value
    if not isinstance(value, Mapping):
        return
    inner = next((value[name] for name in _NAMES if isinstance(value.get(name), list)), ())
    for at, item in enumerate(inner):
        if isinstance(item, Mapping):
            yield Record(replace(record.place, offset=record.place.offset + at), item)
