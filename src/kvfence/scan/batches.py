"""Exchanges as Arrow: the one schema that every kernel reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kvfence.scan.exchange import Coverage, Exchange, Place

EXCHANGES = pa.schema(
    [
        pa.field("source", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("tenant", pa.string()),
        pa.field("session", pa.string()),
        pa.field("model", pa.string()),
        pa.field("provider", pa.string()),
        pa.field("began_ms", pa.int64()),
        pa.field("ended_ms", pa.int64()),
        pa.field("status", pa.int16()),
        pa.field("finish", pa.string()),
        pa.field("prompt", pa.large_string(), nullable=False),
        pa.field("prompt_coverage", pa.string(), nullable=False),
        pa.field("answer", pa.large_string(), nullable=False),
        pa.field("answer_coverage", pa.string(), nullable=False),
        pa.field("prompt_tokens", pa.int64()),
        pa.field("answer_tokens", pa.int64()),
    ]
)
"""A row an exchange; (`source`, `offset`) names it. Texts are UTF-8."""

_OF_PLACE = ("source", "offset", "line")


def batch_of(exchanges: Iterable[Exchange]) -> pa.RecordBatch:
    """The exchanges as one batch, in their order."""
    return pa.RecordBatch.from_pylist([_row(exchange) for exchange in exchanges], schema=EXCHANGES)


def exchanges_of(batch: pa.RecordBatch) -> Iterator[Exchange]:
    """The exchanges of a batch, in its order."""
    for row in batch.to_pylist():
        place = Place(**{name: row.pop(name) for name in _OF_PLACE})
        for name in ("prompt_coverage", "answer_coverage"):
            row[name] = Coverage(row[name])
        yield Exchange(place=place, **row)


def _row(exchange: Exchange) -> dict[str, Any]:
    names = [field.name for field in EXCHANGES if field.name not in _OF_PLACE]
    place = {name: getattr(exchange.place, name) for name in _OF_PLACE}
    return place | {name: getattr(exchange, name) for name in names}
