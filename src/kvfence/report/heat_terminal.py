"""The map of recall on a terminal: figures in plain ASCII, with colour behind them where there is any."""

from __future__ import annotations

from rich.console import Console
from rich.style import Style
from rich.text import Text

from kvfence.findings.recall import ProbeResult
from kvfence.report.heat_map import HeatRow, colour, css_hex, depth_percents, heat_rows, ink, percent

CELL_CHARS = 5
"""A percentage and the space around it."""
LABEL_CHARS = 12
ALL_OF_TEN = "#"


def show_heat(result: ProbeResult, console: Console) -> None:
    """The map, or one line where there is nothing to see in it."""
    rows = heat_rows(result)
    if not rows:
        return
    depths = len(rows[0].recall.shares)
    if all(share == 1 for row in rows for share in row.recall.shares):
        console.print(f"recall by length and depth: 100% at all {len(rows)} lengths and {depths} depths", style="dim")
        return
    wide = LABEL_CHARS + CELL_CHARS * depths <= console.width
    unit = "in %" if wide else f"in tenths, {ALL_OF_TEN} for all"
    console.print(
        Text(f"recall by length and depth, {unit}: markers that came back, from the prompt's start to its end", "bold")
    )
    if wide:
        console.print(Text("tokens".rjust(LABEL_CHARS - 2) + "  ", "dim").append(_heading(depths)), soft_wrap=True)
    for row in rows:
        console.print(_line(row, wide=wide), soft_wrap=True)


def _heading(depths: int) -> str:
    return "".join(f"{place}%".rjust(CELL_CHARS - 1) + " " for place in depth_percents(depths))


def _line(row: HeatRow, *, wide: bool) -> Text:
    line = Text(f"{row.tokens:,}".rjust(LABEL_CHARS - 2) + "  ")
    for share in row.recall.shares:
        figure = f"{percent(share)} ".rjust(CELL_CHARS) if wide else _tenth(share)
        line.append(figure, _style(share))
    return line


def _tenth(share: float) -> str:
    return ALL_OF_TEN if share == 1 else str(percent(share) // 10)


def _style(share: float) -> Style:
    behind = colour(share)
    return Style(color=css_hex(ink(behind)), bgcolor=css_hex(behind))
