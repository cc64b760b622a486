"""A search through interleavings for people: the verdict, what was searched, and the story of what was found."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kvfence.findings.interleaving import BrokenPromise, Interleavings, Replay, Space, TraceStep
from kvfence.findings.verdict import Verdict

_STYLES = {Verdict.CLEAN: "bold green", Verdict.FOUND: "bold red", Verdict.UNKNOWN: "bold yellow"}


def print_interleavings(seen: Interleavings, console: Console, *, took_s: float) -> None:
    """Print the whole of it."""
    console.print(Group(*_parts(seen, took_s)))


def first_line(seen: Interleavings) -> str:
    """What it came to."""
    if seen.violation is not None:
        return f"Broken under {seen.rules}: {seen.violation.why}."
    if seen.complete:
        return f"Complete under {seen.rules}: {seen.states:,} states, and every promise holds in each of them."
    return f"Not concluded under {seen.rules}: the bound's limit stopped it after {seen.states:,} states."


def _parts(seen: Interleavings, took_s: float) -> Iterator[RenderableType]:
    yield Text(first_line(seen), style=_STYLES[seen.verdict])
    yield Text(f"bound {seen.bound}: {seen.bound_holds}", style="dim")
    yield Text(f"checks: {seen.checks}", style="dim")
    yield _table(seen.spaces)
    yield Text(f"took {took_s:.1f} s", style="dim")
    if seen.violation is not None:
        yield from _story(seen.violation)


def _table(spaces: tuple[Space, ...]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("wire")
    table.add_column("may go wrong")
    for figure in ("states", "transitions", "depth"):
        table.add_column(figure, justify="right")
    table.add_column("complete")
    for space in spaces:
        figures = (f"{number:,}" for number in (space.states, space.transitions, space.depth))
        table.add_row(space.wire, space.may_go_wrong, *figures, "yes" if space.complete else "no")
    return table


def _story(broken: BrokenPromise) -> Iterator[RenderableType]:
    yield Text(f"{broken.invariant}: {broken.means}", style="bold")
    yield Text(f"A shortest way to break it, {len(broken.trace)} moves on the {broken.wire} wire:")
    yield from _moves(broken.trace)
    yield Text(f"     So {broken.why}.", style="bold red")
    yield Text("")
    yield Text("```mermaid\n" + broken.diagram + "```", style="dim")


def print_replay(again: Replay, console: Console) -> None:
    """The moves that could be made, and what came of them."""
    if again.broken is not None:
        line = f"Broken again under {again.rules}: {again.broken}."
    elif again.stopped:
        line = f"Under {again.rules} move {len(again.steps) + 1} of {again.moves} cannot be made: it goes another way."
    else:
        line = f"All {again.moves} moves were made under {again.rules}, and every promise held on the way."
    console.print(Text(line, style=_STYLES[again.verdict]))
    console.print(Group(*_moves(again.steps)))
    if again.in_cell:
        console.print(Text(f"In the running cell: {again.in_cell}."))


def _moves(steps: tuple[TraceStep, ...]) -> Iterator[RenderableType]:
    for number, step in enumerate(steps, 1):
        then = f"  [{'; '.join(step.then)}]" if step.then else ""
        yield Text.assemble(f"{number:>3}. {step.says}", (then, "dim"))
