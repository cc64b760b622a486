"""Exchanges read again by their rows in the table: as many at once as fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from kvfence.errors import TargetError
from kvfence.scan.exchange import Exchange
from kvfence.scan.foreign.owners import Exchanges, source_and_offset
from kvfence.scan.reading.exchanges import exchanges_at
from kvfence.scan.reading.source import Source

TEXT_BYTES = 128 << 20
"""So much is held in memory at once, as far as the sizes of single exchanges allow."""

T = TypeVar("T")


def with_texts(
    some: Iterable[tuple[T, Sequence[int]]], exchanges: Exchanges, sources: Sequence[Source]
) -> Iterator[tuple[T, Mapping[int, Exchange]]]:
    """Each with the exchanges of its rows, in the same order.

    Raises:
        OSError: a file cannot be read.
        TargetError: a file has changed since it was read.
    """
    for together in _together(some, exchanges):
        texts = texts_of({row for _, rows in together for row in rows}, exchanges, sources)
        for one, _ in together:
            yield one, texts


def texts_of(rows: Iterable[int], exchanges: Exchanges, sources: Sequence[Source]) -> dict[int, Exchange]:
    """The exchanges of these rows. Errors: see `with_texts`."""
    by_source: dict[int, dict[int, int]] = {}
    for row in rows:
        number, offset = source_and_offset(int(exchanges["place"][row]))
        by_source.setdefault(number, {})[offset] = row
    texts = {}
    for number, wanted in sorted(by_source.items()):
        for exchange in exchanges_at(sources[number], wanted):
            if exchange.place.offset in wanted:
                texts[wanted.pop(exchange.place.offset)] = exchange
        if wanted:
            raise TargetError(f"{sources[number].shown}: it has changed since it was read; scan it again")
    return texts


def _together(some: Iterable[tuple[T, Sequence[int]]], exchanges: Exchanges) -> Iterator[list[tuple[T, Sequence[int]]]]:
    held: list[tuple[T, Sequence[int]]] = []
    known: set[int] = set()
    size = 0
    for one, rows in some:
        new = [row for row in rows if row not in known]
        known.update(new)
        size += _bytes_of(exchanges, new)
        held.append((one, rows))
        if size >= TEXT_BYTES:
            yield held
            held, known, size = [], set(), 0
    if held:
        yield held


def _bytes_of(exchanges: Exchanges, rows: Any) -> int:
    return int(exchanges["prompt_bytes"][rows].sum() + exchanges["answer_bytes"][rows].sum()) if rows else 0
