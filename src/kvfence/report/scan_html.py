"""A scan as one HTML file for whoever must answer for it: the three questions, when it was, the pairs side by side.

The file asks nothing of any other place, and its policy forbids that too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kvfence.findings.exposure import Exposure
from kvfence.report.html_page import render_page
from kvfence.report.plain_scan import plain_scan
from kvfence.report.scan_bins import Bins, bins_of
from kvfence.report.scan_facts import ScanFacts, digest
from kvfence.report.scan_order import matches_worst_first, signs_surest_first, to_rotate_first
from kvfence.report.scan_words import (
    INHERENT,
    answers,
    coverage_rows,
    not_read_lines,
    reach,
    verdict_line,
    window_words,
)
from kvfence.report.times import after, at_utc

PAIRS_MAX = 200
"""Sections of a page that a person still reads; every one has its row in JSON and CSV."""
ROWS_MAX = 500
INPUTS_MAX = 100
IDS_MAX = 10
PICTURE_PX, ROW_PX, LABEL_PX = 720, 44, 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of the picture, in its pixels."""

    x: float
    y: float
    width: float
    height: float
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of bars."""

    name: str
    kind: str
    y: int
    most: int
    bars: tuple[Bar, ...]


def document(seen: Exposure, facts: ScanFacts) -> str:
    """The page as text."""
    plain = plain_scan(seen)
    bins = bins_of(plain)
    return render_page(
        "scan.html",
        seen=plain,
        run=facts.run,
        read=facts.read[:INPUTS_MAX],
        more_read=max(0, len(facts.read) - INPUTS_MAX),
        digest=digest(seen),
        verdict=verdict_line(plain),
        answers=tuple(answers(plain)),
        window=window_words(plain.window),
        bins=bins,
        rows=tuple(_rows(bins)) if bins else (),
        picture_px=PICTURE_PX,
        row_px=ROW_PX,
        label_px=LABEL_PX,
        pairs=matches_worst_first(plain)[:PAIRS_MAX],
        signs=signs_surest_first(plain)[:ROWS_MAX],
        secrets=to_rotate_first(plain)[:ROWS_MAX],
        ids_max=IDS_MAX,
        coverage=tuple(coverage_rows(plain)),
        reach=(*reach(plain), *INHERENT),
        not_read=tuple(not_read_lines(plain, ROWS_MAX)),
        at=at_utc,
        after=after,
    )


def _rows(bins: Bins) -> Iterator[Row]:
    told = [one.told() for one in bins.bins]
    for place, (name, kind, counts) in enumerate(
        (
            ("requests", "all", [one.requests for one in bins.bins]),
            ("in the window", "inside", [one.exposed for one in bins.bins]),
            ("with another's text", "carrying", [one.carrying for one in bins.bins]),
        )
    ):
        yield Row(name=name, kind=kind, y=place * ROW_PX, most=max(counts), bars=tuple(_bars(counts, told, place)))


def _bars(counts: Sequence[int], told: Sequence[str], row: int) -> Iterator[Bar]:
    """Heights by the row's own largest; what is there at all is seen."""
    width, most, height_max = PICTURE_PX / len(counts), max(counts), ROW_PX - 8
    for place, count in enumerate(counts):
        if count:
            height = max(2.0, height_max * count / most)
            yield Bar(
                x=round(LABEL_PX + place * width, 2),
                y=round((row + 1) * ROW_PX - height, 2),
                width=round(max(1.0, width - 1), 2),
                height=round(height, 2),
                told=told[place],
            )
