"""How many requests there are: by hour, by what the log kept of their texts, and by whether they are in the window."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from kvfence.scan.exchange import Coverage
from kvfence.scan.passing.scan_pass import Kernel
from kvfence.scan.timeline import HOUR_MS
from kvfence.scan.window import Window, inside

_WORST_FIRST = (Coverage.ENCRYPTED, Coverage.OMITTED, Coverage.CUT, Coverage.WHOLE)


@dataclass(frozen=True, slots=True)
class Counts:
    """A pass: rows of an hour, a coverage and whether they are in the window, with how many there are in a batch."""

    window: Window

    @property
    def name(self) -> str:
        """See `Pass`."""
        return "counts"

    @property
    def output(self) -> pa.Schema:
        """`hour`: of `began_ms`, since 1970, UTC; null where the log has no time."""
        return pa.schema(
            [
                pa.field("hour", pa.int64()),
                pa.field("coverage", pa.string(), nullable=False),
                pa.field("is_inside", pa.bool_(), nullable=False),
                pa.field("requests", pa.int64(), nullable=False),
            ]
        )

    def ready(self) -> Kernel:
        """See `Pass`."""
        return self._counted

    def _counted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = pa.table(
            {
                "hour": pc.floor(pc.divide(pc.cast(batch["began_ms"], pa.float64()), HOUR_MS)).cast(pa.int64()),
                "coverage": _worse(batch),
                "is_inside": inside(self.window, batch),
            }
        )
        grouped = rows.group_by(["hour", "coverage", "is_inside"]).aggregate([([], "count_all")])
        ordered = grouped.sort_by([(name, "ascending") for name in ("hour", "coverage", "is_inside")])
        arrays = [ordered[name].combine_chunks() for name in ("hour", "coverage", "is_inside", "count_all")]
        return pa.RecordBatch.from_arrays(arrays, schema=self.output)


def _worse(batch: pa.RecordBatch) -> pa.Array:
    """Of each request, the worse of the coverages of its two texts."""
    masks = [
        pc.or_(pc.equal(batch["prompt_coverage"], kind), pc.equal(batch["answer_coverage"], kind))
        for kind in _WORST_FIRST
    ]
    choices = [pa.scalar(str(kind)) for kind in _WORST_FIRST]
    return pc.case_when(pc.make_struct(*masks), *choices)
