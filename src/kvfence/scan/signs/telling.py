"""Rows of signs turned into what a report says, in the order of the inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappush, heapreplace
from typing import Any

import pyarrow as pa

from kvfence.findings.exposure import Logged, Sign
from kvfence.scan.reading.source import Source
from kvfence.scan.signs.calibration import REPORTED_MIN, scales

TOLD_MAX = 20_000
"""So many are held and reported, the surest of them; an advisory's window has far fewer."""


@dataclass(frozen=True, slots=True)
class Signed:
    """The signs, and how many more there were."""

    signs: tuple[Sign, ...]
    left_out: int


def signs_of(batches: Iterable[pa.RecordBatch], sources: Sequence[Source], *, at_most: int = TOLD_MAX) -> Signed:
    """The surest ones of these rows. A sign below a precision of a half is none."""
    by_kind = scales()
    kept: list[tuple[float, int, dict[str, Any]]] = []
    number = 0
    for batch in batches:
        for row in batch.to_pylist():
            scale = by_kind.get(row["kind"])
            score = scale.score(row["strength"]) if scale else 0.0
            if score < REPORTED_MIN:
                continue
            number += 1
            ranked = (score, -number, row)
            if len(kept) < at_most:
                heappush(kept, ranked)
            elif ranked > kept[0]:
                heapreplace(kept, ranked)
    in_order = sorted(kept, key=lambda one: -one[1])
    return Signed(tuple(_sign(row, score, sources) for score, _, row in in_order), number - len(kept))


def _sign(row: dict[str, Any], score: float, sources: Sequence[Source]) -> Sign:
    return Sign(
        kind=row["kind"],
        request=Logged(
            id=row["id"],
            tenant=row["tenant"],
            at_ms=row["began_ms"],
            model=row["model"],
            where=f"{sources[row['source']].shown}:{row['line']}",
        ),
        score=score,
        evidence=row["evidence"],
    )
