"""A probe's plan before it is run, for people and as JSON (schema 1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kvfence.findings.foreseen import Foreseen, ForeseenRequest
from kvfence.report.probe_json import SCHEMA, Document


def show_plan(plan: Foreseen, console: Console) -> None:
    """One line for each run of like requests, then what all of them take."""
    table = Table(title=f"{plan.model} at {plan.url}: nothing was sent", title_justify="left", title_style="bold")
    for heading in ("requests", "tokens"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("part")
    table.add_column("why")
    for (tokens, part, why), same in groupby(plan.requests, key=_shown):
        table.add_row(str(len(list(same))), f"{tokens:,}", part, why)
    console.print(table)
    spent = plan.spent
    usd = "unknown without prices" if spent.usd is None else f"{spent.usd:,.2f} US dollars"
    console.print(
        f"{spent.requests} requests, {spent.prompt_tokens:,} prompt and at most {spent.answer_tokens:,} answer tokens; "
        f"cost: {usd}"
    )
    console.print(f"about {plan.seconds:,.0f} s {plan.speeds}", style="dim")
    if plan.longer_than_asked:
        console.print(Text(plan.longer_than_asked, "yellow"))
    if plan.stopped_by:
        console.print(f"{plan.stopped_by} would end it before it is over", style="yellow")


def _shown(request: ForeseenRequest) -> tuple[int, str, str]:
    manner = "" if request.scenario == "sweep" else f"{request.scenario}: "
    return request.tokens, request.part, manner + request.why


def show_plans(plans: Mapping[str, Foreseen], console: Console) -> None:
    """One after the other, then what all of them take."""
    for name, plan in plans.items():
        console.print(Text(name, "bold"))
        show_plan(plan, console)
    spent = [plan.spent for plan in plans.values()]
    usd = _sum_of_usd(plans)
    cost = "unknown without prices" if usd is None else f"{usd:,.2f} US dollars"
    tokens = sum(one.prompt_tokens + one.answer_tokens for one in spent)
    console.print(
        f"all together: {sum(one.requests for one in spent)} requests, {tokens:,} tokens at most; cost: {cost}"
    )


def documents(plans: Mapping[str, Foreseen]) -> Document:
    """What `kvfence probe --providers FILE --dry-run --format json` writes."""
    listed = [{"name": name, **dataclasses.asdict(plan)} for name, plan in plans.items()]
    return {"schema": SCHEMA, "dry_run": True, "usd": _sum_of_usd(plans), "providers": listed}


def _sum_of_usd(plans: Mapping[str, Foreseen]) -> float | None:
    known = [plan.spent.usd for plan in plans.values() if plan.spent.usd is not None]
    return sum(known) if len(known) == len(plans) else None


def document(plan: Foreseen) -> Document:
    """What `kvfence probe --dry-run --format json` writes."""
    return {"schema": SCHEMA, "dry_run": True, **dataclasses.asdict(plan)}
