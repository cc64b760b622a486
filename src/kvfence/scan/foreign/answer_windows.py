"""The pass of the first reading: keyed hashes of each answer's windows, and no text."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from kvfence.scan.foreign.windows import Hashing, sparse_offsets, texts_of
from kvfence.scan.passing.scan_pass import Kernel

WINDOWS = pa.schema(
    [
        pa.field("hash", pa.uint64(), nullable=False),
        pa.field("source", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("at", pa.uint32(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWindows:
    """A row for each window of each answer: its hash, where the exchange is, and the byte of the answer."""

    hashing: Hashing

    @property
    def name(self) -> str:
        """See `Pass`."""
        return "answer windows"

    @property
    def output(self) -> pa.Schema:
        """See `Pass`."""
        return WINDOWS

    def ready(self) -> Kernel:
        """See `Pass`."""
        return self._rows

    def _rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        octets, begins = texts_of(batch["answer"])
        rows, offsets = sparse_offsets(begins)
        exchanges = pa.array(rows)
        columns = [
            pa.array(self.hashing.at(octets, offsets)),
            batch["source"].take(exchanges),
            batch["offset"].take(exchanges),
            pa.array((offsets - begins[rows]).astype("uint32")),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=WINDOWS)
