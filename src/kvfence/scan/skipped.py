"""What could not be read of one source: the first of it listed, the rest counted, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.findings.exposure import NotRead
from kvfence.scan.exchange import Unread
from kvfence.scan.reading.source import Source

LISTED_MAX = 1000


class Skipped:
    """Takes them as they come."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._listed: list[Unread] = []
        self._more = 0

    def add(self, unread: Unread) -> None:
        """Note one."""
        if len(self._listed) < LISTED_MAX:
            self._listed.append(unread)
        else:
            self._more += 1

    def told(self) -> Iterator[NotRead]:
        """As a report has them."""
        for one in self._listed:
            yield NotRead(file=self._source.shown, line=one.line, why=one.why)
        if self._more:
            why = f"{self._more:,} more lines could not be read; the first {LISTED_MAX:,} are listed"
            yield NotRead(file=self._source.shown, line=None, why=why, count=self._more)
