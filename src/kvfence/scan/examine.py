"""The whole of a scan: what is read, what is looked for in it, and what could not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa

from kvfence.findings.exposure import Exposure, NotRead, TextCoverage
from kvfence.scan.exchange import Coverage, Unread
from kvfence.scan.reading.exchanges import batches_of
from kvfence.scan.reading.source import Source
from kvfence.scan.skipped import Skipped
from kvfence.scan.window import Window, inside

NOT_BUILT = ("foreign text", "signs of lost context", "secrets")
"""What no kernel looks for yet."""
_WORST_FIRST = (Coverage.ENCRYPTED, Coverage.OMITTED, Coverage.CUT)


def examined(sources: Sequence[Source], window: Window) -> Exposure:
    """What these inputs say. Nothing is raised for what is bad in them."""
    covered: Counter[Coverage] = Counter()
    exposed = 0
    not_read: list[NotRead] = []
    for source in sources:
        skipped = Skipped(source)
        for item in batches_of(source):
            if isinstance(item, Unread):
                skipped.add(item)
            else:
                covered.update(_coverages(item))
                exposed += inside(window, item).true_count
        not_read += skipped.told()
    return Exposure(
        requests=covered.total(),
        exposed=exposed,
        coverage=TextCoverage(**{str(kind): covered[kind] for kind in Coverage}),
        not_read=tuple(not_read),
        matches=(),
        signs=(),
        credentials=(),
        not_looked_for=NOT_BUILT,
    )


def _coverages(batch: pa.RecordBatch) -> list[Coverage]:
    """Of each request, by the worse of its two texts."""
    pairs = zip(batch["prompt_coverage"].to_pylist(), batch["answer_coverage"].to_pylist(), strict=True)
    return [next((worst for worst in _WORST_FIRST if worst in pair), Coverage.WHOLE) for pair in pairs]
