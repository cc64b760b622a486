"""A probe as one HTML file for whoever decides: the verdict first, then what it rests on and what it leaves open.

The file asks nothing of any other place, and its policy forbids that too.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.findings.leak_rate import LeakRate
from kvfence.findings.recall import ProbeResult
from kvfence.report.heat_map import HeatRow, colour, css_hex, depth_percents, heat_rows, ink, percent
from kvfence.report.html_page import render_page
from kvfence.report.not_covered import not_covered, said_of_rate
from kvfence.report.probe_findings import sights, standing, worst_rule
from kvfence.report.run import Run

LABEL_PX, MAP_PX, ROW_PX, HEAD_PX = 100, 700, 24, 22
FIGURE_PX = 30
"""A narrower cell has no room for its figure, which then stands in its title and in the table alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """One square, measured for drawing."""

    x: float
    y: int
    width: float
    fill: str
    ink: str
    figure: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatPicture:
    """The map, measured for drawing."""

    rows: tuple[HeatRow, ...]
    cells: tuple[HeatCell, ...]
    places: tuple[int, ...]
    """How far into the prompt each column stands, in percent."""
    heads: tuple[tuple[float, int], ...]
    """Where such a place is written, and which; not all of them where they stand close."""
    height_px: int
    told: str


def document(result: ProbeResult, run: Run) -> str:
    """The page as text; the texts of the probe must be plain."""
    return render_page(
        "probe.html",
        run=run,
        result=result,
        heat=_heat(heat_rows(result)),
        standing=lambda length: standing(length, result),
        bound=_bound,
        rate=said_of_rate(result.leak_rate),
        rule=worst_rule(result),
        leaks=[row for row in result.lengths if row.evidence],
        sights=sights,
        open_points=not_covered(result),
        percent=percent,
        label_px=LABEL_PX,
        map_px=MAP_PX,
        row_px=ROW_PX,
        head_px=HEAD_PX,
    )


def _bound(rate: LeakRate | None) -> str:
    """On one length's leak rate, as a cell of the table."""
    if rate is None or not rate.trials:
        return "not told"
    said = f"{rate.seen} of {rate.trials}"
    return f"{said}; at most {rate.upper_bound:.2g}" if rate.upper_bound < 1 else f"{said}; too few to bound it"


def _heat(rows: tuple[HeatRow, ...]) -> HeatPicture | None:
    if not rows:
        return None
    places = depth_percents(len(rows[0].recall.shares))
    width = round(MAP_PX / len(places), 2)
    return HeatPicture(
        rows=rows,
        cells=tuple(
            _cell(row, at, share, place, x=round(LABEL_PX + column * width, 2), width=width)
            for at, row in enumerate(rows)
            for column, (share, place) in enumerate(zip(row.recall.shares, places, strict=True))
        ),
        places=places,
        heads=tuple(
            (round(LABEL_PX + width * (column + 0.5), 1), place)
            for column, place in enumerate(places)
            if width >= FIGURE_PX or column in {0, len(places) - 1}
        ),
        height_px=HEAD_PX + ROW_PX * len(rows),
        told=_told(rows),
    )


def _cell(row: HeatRow, at: int, share: float, place: int, *, x: float, width: float) -> HeatCell:
    shade = colour(share)
    return HeatCell(
        x=x,
        y=HEAD_PX + ROW_PX * at,
        width=width,
        fill=css_hex(shade),
        ink=css_hex(ink(shade)),
        figure=str(percent(share)) if width >= FIGURE_PX else "",
        told=f"{row.tokens:,} tokens, {place}% into the prompt: {percent(share)}% of {row.recall.answers} answers",
    )


def _told(rows: tuple[HeatRow, ...]) -> str:
    """The picture for whoever does not see it."""
    whole = [row for row in rows if all(share == 1 for share in row.recall.shares)]
    said = f"Recall by length and depth: at {len(whole)} of {len(rows)} lengths every marker of every depth came back."
    short = [row for row in rows if row not in whole]
    if not short:
        return said
    first = short[0]
    mean = sum(first.recall.shares) / len(first.recall.shares)
    return f"{said} The shortest where some are missing is {first.tokens:,} tokens, with {percent(mean)}% of them back."
