"""What an endpoint said of itself and in its messages, made fit for every format, as `plain` says."""

from __future__ import annotations

from dataclasses import replace

from kvfence.findings.recall import ForeignMarker, LengthResult, ProbeResult
from kvfence.report.plain import plain, plain_name


def plain_probe(result: ProbeResult) -> ProbeResult:
    """The same probe with every text plain."""
    return replace(
        result,
        url=plain_name(result.url),
        model=plain_name(result.model),
        token_count_by=plain(result.token_count_by),
        reason=plain(result.reason),
        lengths=tuple(_length(length) for length in result.lengths),
    )


def _length(length: LengthResult) -> LengthResult:
    evidence = tuple(_marker(marker) for marker in length.evidence)
    return replace(length, why=plain(length.why), detail=plain(length.detail), evidence=evidence)


def _marker(marker: ForeignMarker) -> ForeignMarker:
    origin = marker.origin and replace(
        marker.origin,
        campaign=plain(marker.origin.campaign),
        seed=plain(marker.origin.seed),
        endpoint=plain_name(marker.origin.endpoint),
        model=marker.origin.model and plain_name(marker.origin.model),
    )
    return replace(marker, planted_by=plain(marker.planted_by), shown=plain(marker.shown), origin=origin)
