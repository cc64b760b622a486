"""A corpus as the scan's own reading sees it, exchange by exchange."""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.scan.exchange import Exchange, Unread
from kvfence.scan.reading.exchanges import exchanges_of
from kvfence.scan.reading.inputs import sources_of
from support.naive_foreign import Said
from support.scan_corpus.writing import Corpus


def exchanges(corpus: Corpus) -> tuple[list[Exchange], list[Unread]]:
    """All of them, and what could not be read."""
    read: list[Exchange] = []
    unread: list[Unread] = []
    for source in sources_of([str(log) for log in corpus.logs]):
        for one in exchanges_of(source):
            if isinstance(one, Unread):
                unread.append(one)
            else:
                read.append(one)
    return read, unread


def said(read: list[Exchange]) -> Iterator[Said]:
    """The same for the naive reference."""
    for one in read:
        yield Said(
            id=one.id,
            owner=one.tenant or "",
            at_s=(one.began_ms or 0) / 1000,
            prompt=one.prompt.encode(),
            answer=one.answer.encode(),
        )
