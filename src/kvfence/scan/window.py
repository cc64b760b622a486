"""Which past requests an advisory is about: longer than, between, of a model. What no log says excludes none."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from kvfence.findings.window import Window
from kvfence.scan.exchange import Coverage

__all__ = ["INCIDENT", "Window", "inside"]

BYTES_PER_TOKEN_MIN = 3
"""A prompt has at most a token in so many bytes of UTF-8 on the whole: English about 4.5, Chinese 4.5, code 3.5. It is
used where the recorded count is not over the length, since a refused prompt is recorded with 1."""


INCIDENT = Window(longer_than=681_280, from_ms=1_787_788_800_000, to_ms=1_788_998_400_000, model="glm-5.3")
"""The exposure at a provider in 2026: from 27 August to the end of 9 September, UTC; the prefill workers' pool."""


def inside(window: Window, batch: pa.RecordBatch) -> pa.BooleanArray:
    """For each row whether it is in the window, or may be."""
    mask = pa.array([True] * batch.num_rows)
    if window.from_ms is not None:
        mask = pc.and_(mask, _unless_known(pc.greater_equal(batch["began_ms"], window.from_ms)))
    if window.to_ms is not None:
        mask = pc.and_(mask, _unless_known(pc.less(batch["began_ms"], window.to_ms)))
    if window.model is not None:
        named = pc.match_substring(batch["model"], window.model, ignore_case=True)
        mask = pc.and_(mask, _unless_known(named))
    if window.longer_than is not None:
        mask = pc.and_(mask, _is_longer(batch, window.longer_than))
    return mask


def _unless_known(claims: pa.BooleanArray) -> pa.BooleanArray:
    return pc.fill_null(claims, fill_value=True)


def _is_longer(batch: pa.RecordBatch, tokens: int) -> pa.BooleanArray:
    counted = pc.fill_null(pc.greater(batch["prompt_tokens"], tokens), fill_value=False)
    by_bytes = pc.greater(pc.binary_length(batch["prompt"]), tokens * BYTES_PER_TOKEN_MIN)
    is_whole = pc.equal(batch["prompt_coverage"], Coverage.WHOLE)
    not_told = pc.and_(pc.is_null(batch["prompt_tokens"]), pc.invert(is_whole))
    return pc.or_(pc.or_(counted, by_bytes), not_told)
