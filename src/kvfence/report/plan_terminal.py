"""A plan for whoever is on call: first whether it fits and by how much, then the figures, then the change."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kvfence.findings.forecast import HEADROOM, Forecast, Spread, Standing

GIB = 1 << 30
_STYLES = {
    Standing.BELOW: "bold red",
    Standing.UNSURE: "bold yellow",
    Standing.TIGHT: "bold yellow",
    Standing.FINE: "bold green",
}


def print_plan(forecast: Forecast, console: Console) -> None:
    """Print the whole of it."""
    console.print(Group(*_parts(forecast)), soft_wrap=False)


def first_line(forecast: Forecast) -> str:
    """Whether it fits, and by how much, in one line."""
    needed, pool = forecast.needed, forecast.pool
    asked = _asked(forecast)
    match forecast.standing:
        case Standing.BELOW:
            return (
                f"Does not fit: {asked}, and the pool holds about {pool.likely:,} (at most {pool.high:,}), "
                f"{needed - pool.high:,} too few at best."
            )
        case Standing.UNSURE:
            return f"Cannot be told: {asked}, and the pool holds between {pool.low:,} and {pool.high:,}."
        case Standing.TIGHT:
            return (
                f"Fits, with less than {HEADROOM} times the need: {asked}, and the pool holds at least {pool.low:,}, "
                f"{pool.low - needed:,} to spare."
            )
        case Standing.FINE:
            times = pool.low / needed
            return f"Fits: {asked}, and the pool holds at least {pool.low:,}, {times:.1f} times as much."


def _asked(forecast: Forecast) -> str:
    if forecast.needed == forecast.context:
        return f"the context is {forecast.context:,} tokens"
    asked = f"{forecast.requests} x {forecast.context:,}"
    if forecast.pools > 1:
        return f"{asked} over {forecast.pools} pools asks for {forecast.needed:,} tokens in one of them"
    return f"{asked} asks for {forecast.needed:,} tokens in one pool"


def _parts(forecast: Forecast) -> Iterator[RenderableType]:
    yield Text(first_line(forecast), style=_STYLES[forecast.standing])
    yield Text(f"{forecast.model}, {forecast.family}\n{forecast.setting}")
    yield _figures(forecast)
    yield _memory(forecast)
    yield _layers(forecast)
    yield from _change(forecast)
    for note in forecast.notes:
        yield Text(f"Note: {note}.", style="dim")


def _figures(forecast: Forecast) -> Table:
    table = _table("tokens", "low", "likely", "high")
    rows: list[tuple[str, Spread]] = [("pool", forecast.pool), ("usable prompt length", forecast.usable)]
    for name, spread in rows:
        table.add_row(name, f"{spread.low:,}", f"{spread.likely:,}", f"{spread.high:,}")
    table.add_row("context", "", f"{forecast.context:,}", "")
    return table


def _memory(forecast: Forecast) -> Table:
    table = _table("memory of one GPU, GiB", "low", "likely", "high", "from")
    for share in forecast.shares:
        figures = (f"{size / GIB:.2f}" for size in (share.low, share.likely, share.high))
        table.add_row(share.name, *figures, share.source)
    return table


def _layers(forecast: Forecast) -> Table:
    table = _table("kept on one GPU", "layers", "bytes a token", "bytes a request", "from")
    for cost in forecast.costs:
        each = f"{cost.request_bytes:,}" if cost.request_bytes else ""
        table.add_row(
            cost.name, str(cost.layers), f"{cost.token_bytes:,}" if cost.token_bytes else "", each, cost.source
        )
    return table


def _table(first: str, *rest: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    for title in rest:
        table.add_column(title, justify="left" if title == "from" else "right", overflow="fold")
    return table


def _change(forecast: Forecast) -> Iterator[RenderableType]:
    if not forecast.tried and forecast.standing in {Standing.TIGHT, Standing.FINE}:
        return
    change = forecast.change
    if change is None:
        most = max((attempt.pool.low for attempt in forecast.tried), default=0)
        yield Text(
            f"No change that was tried fits ({len(forecast.tried)} of them, the best holds {most:,}): take other GPUs.",
            style="bold",
        )
        yield _promise(forecast)
        return
    yield Text.assemble(("Change: ", "bold green"), (change.flags, "bold"), f" ({change.what})")
    yield Padding(
        Text(
            f"The pool then holds {change.pool.low:,} to {change.pool.high:,} tokens and {change.needed:,} are needed."
        ),
        (0, 0, 0, 2),
    )
    yield _promise(forecast)


def _promise(forecast: Forecast) -> RenderableType:
    flag = "--context-length" if forecast.engine == "sglang" else "--max-model-len"
    if not forecast.promise:
        return Text("As it is, the pool may hold nothing.", style="dim")
    return Text.assemble(("Or promise what fits as it is: ", "bold"), f"{flag} {forecast.promise}")
