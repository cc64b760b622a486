"""The lines of a server's log as the server wrote them, whatever its container's runtime or its logger put around them.

Docker's json-file driver and CRI runtimes cut lines of more than 16 KiB; the pieces are put together here. Sources:
docs.docker.com, json-file logging driver; kubernetes/design-proposals-archive, kubelet-cri-logging.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvfence.scan.exchange import Place
from kvfence.scan.formats.fields import first, ms_of
from kvfence.scan.reading.record import BYTES_MAX, Record

_CRI = re.compile(r"(\d{4}-\d\d-\d\dT\S+) std(?:out|err) ([FP]) ")
_TIME = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)")
_TIME_WITHIN = 64
_TEXTS, _TIMES = ("log", "message", "msg", "body", "line"), ("time", "timestamp", "@timestamp", "asctime", "ts")


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A line, where it began, and when it was written if that is told with its year."""

    place: Place
    text: str
    at_ms: int | None


def text_of(record: Record) -> str:
    """The text of a record as it stands, without what is around it; empty where it has none."""
    value = record.value
    if isinstance(value, str):
        return value[found.end() :] if (found := _CRI.match(value)) else value
    return text_in(value)


def is_line(record: Record) -> bool:
    """Whether a record is a line or a piece of one, and no object that says something itself."""
    return isinstance(record.value, str) or ("log" in record.value and "stream" in record.value)


class ServerLines:
    """Takes records in their order, and gives whole lines."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._chars = 0
        self._place: Place | None = None

    def feed(self, record: Record) -> ServerLine | None:
        """The line that ends with this record, if one does."""
        text = text_of(record)
        if self._place is None:
            self._place = record.place
        if self._chars < BYTES_MAX:  # the rest of a longer one is left out: it ends without its quote then
            self._pieces.append(text.rstrip("\r\n"))
            self._chars += len(text)
        if _goes_on(record.value):
            return None
        line = ServerLine(self._place, "".join(self._pieces), _at_ms(record.value))
        self._pieces, self._chars, self._place = [], 0, None
        return line


def _goes_on(value: Mapping[str, Any] | str) -> bool:
    if isinstance(value, str):
        found = _CRI.match(value)
        return found is not None and found.group(2) == "P"
    text = value.get("log")
    return isinstance(text, str) and "stream" in value and not text.endswith("\n")


def _at_ms(value: Mapping[str, Any] | str) -> int | None:
    if not isinstance(value, str):
        told = ms_of(first(value, *_TIMES))
        return told if told is not None else _at_ms(text_in(value))
    found = _TIME.search(value, 0, _TIME_WITHIN)
    return ms_of(found.group(1).replace(",", ".")) if found else None


def text_in(value: Mapping[str, Any]) -> str:
    """The line in an object that a logger or a runtime wrote around it."""
    text = first(value, *_TEXTS)
    return text if isinstance(text, str) else ""
