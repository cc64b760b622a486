"""The pass that looks for signs: a row for each one seen, with what a report says of its request and no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kvfence.scan.passing.scan_pass import Kernel
from kvfence.scan.signs.catalogue import looks
from kvfence.scan.signs.told import Look, told_of
from kvfence.scan.window import Window, inside

_OF_REQUEST = ("source", "offset", "line", "id", "tenant", "model", "began_ms")
_LOOKED_AT = (*_OF_REQUEST, "prompt", "prompt_coverage", "answer", "prompt_tokens")
_OK_MIN, _OK_MAX = 200, 299


@dataclass(frozen=True, slots=True)
class Signs:
    """Looks at answers that came with success, or without a status, to requests inside the window."""

    window: Window
    limit: int | None = None
    """Tokens of a prompt, where one is known."""

    @property
    def name(self) -> str:
        """See `Pass`."""
        return "signs"

    @property
    def output(self) -> pa.Schema:
        """`strength` in the sign's own unit; `evidence` is redacted."""
        return pa.schema(
            [
                pa.field("source", pa.int32(), nullable=False),
                pa.field("offset", pa.int64(), nullable=False),
                pa.field("line", pa.int64(), nullable=False),
                pa.field("id", pa.string(), nullable=False),
                pa.field("tenant", pa.string()),
                pa.field("model", pa.string()),
                pa.field("began_ms", pa.int64()),
                pa.field("kind", pa.string(), nullable=False),
                pa.field("strength", pa.float64(), nullable=False),
                pa.field("evidence", pa.string(), nullable=False),
            ]
        )

    def ready(self) -> Kernel:
        """See `Pass`."""
        return _Looking(self.window, looks(self.limit), self.output)


@dataclass(frozen=True, slots=True)
class _Looking:
    window: Window
    looks: dict[str, Look]
    output: pa.Schema

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows: list[dict[str, Any]] = []
        for row in batch.filter(_is_answered(self.window, batch)).select(list(_LOOKED_AT)).to_pylist():
            told = told_of(row)
            for kind, look in self.looks.items():
                seen = look(told)
                if seen is not None:
                    request = {name: row[name] for name in _OF_REQUEST}
                    rows.append({**request, "kind": kind, "strength": seen.strength, "evidence": seen.evidence})
        return pa.RecordBatch.from_pylist(rows, schema=self.output)


def _is_answered(window: Window, batch: pa.RecordBatch) -> pa.BooleanArray:
    status = batch["status"]
    succeeded = pc.and_(pc.greater_equal(status, _OK_MIN), pc.less_equal(status, _OK_MAX))
    has_answer = pc.greater(pc.binary_length(batch["answer"]), 0)
    return pc.and_(inside(window, batch), pc.and_(pc.fill_null(succeeded, fill_value=True), has_answer))
