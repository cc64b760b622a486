"""The rows of a Parquet file by the names of its columns, a few at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kvfence.scan.exchange import Place, Unread
from kvfence.scan.reading.opening import seekable
from kvfence.scan.reading.record import Record
from kvfence.scan.reading.source import Source

_BYTES_AT_ONCE = 16 << 20
_ROWS_AT_ONCE = 1024


def parquet_rows_of(source: Source) -> Iterator[Record | Unread]:
    """All rows; `offset` of a place is the number of the row, from 1.

    Raises:
        TargetError: it cannot be opened.
    """
    number = 0
    try:
        with seekable(source.target) as file, pq.ParquetFile(file) as parquet:
            for rows in parquet.iter_batches(batch_size=_rows_at_once(parquet.metadata), use_threads=False):
                for row in rows.to_pylist():
                    number += 1
                    yield Record(Place(source=source.number, offset=number, line=number), row)
    except (pa.ArrowException, OSError) as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        where = f"reading it failed behind row {number}" if number else "not Parquet that can be read"
        yield Unread(source=source.number, line=number or None, why=f"{where}: {why}")


def _rows_at_once(about: Any) -> int:
    """So many that their text is about one batch: a row may be 5 MB, or 200 bytes."""
    groups = [about.row_group(index) for index in range(about.num_row_groups)]
    per_row = max((group.total_byte_size / max(1, group.num_rows) for group in groups), default=1)
    return max(1, min(_ROWS_AT_ONCE, int(_BYTES_AT_ONCE / max(1, per_row))))
