"""A probe as a table for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kvfence.findings.recall import LengthResult, ProbeResult, ScenarioResult
from kvfence.findings.spent import Spent
from kvfence.report.heat_terminal import show_heat
from kvfence.report.not_covered import said_of_rate
from kvfence.report.probe_findings import sights, worst_rule

STYLES = {
    "leak": "bold red",
    "off-topic": "bold red",
    "garbled": "bold red",
    "truncated": "bold red",
    "lost": "bold red",
    "limit-overstated": "yellow",
    "weak-model": "yellow",
    "inconclusive": "yellow",
    "error": "yellow",
    "elsewhere": "yellow",
    "refused": "cyan",
    "clean": "green",
}

SIGHTS_SHOWN = 1
"""In a cell of the table; a report has more of them."""


def show_probe(result: ProbeResult, console: Console) -> None:
    """The lengths, then the verdict."""
    table = Table(title=f"{result.model} at {result.url}", title_justify="left", title_style="bold")
    for heading, justify in (("tokens", "right"), ("status", "right"), ("verdict", "left"), ("markers", "right")):
        table.add_column(heading, justify="right" if justify == "right" else "left", no_wrap=True)
    table.add_column("foreign", justify="right")
    table.add_column("why this length; what was seen")
    for length in result.lengths:
        table.add_row(
            f"{length.tokens:,}",
            str(length.status or "-"),
            Text(length.verdict, STYLES[length.verdict]),
            f"{length.recalled}/{length.planted}",
            str(length.foreign or "-"),
            Text(_seen(length)),
        )
    console.print(table)
    show_heat(result, console)
    apart = ", ".join(result.tenants_told_apart_by) or "nothing that this endpoint accepts"
    console.print(f"declared context {result.declared_context:,}; lengths by {result.token_count_by}", style="dim")
    console.print(f"{result.requests} requests; tenants told apart by {apart}; seed {result.seed}", style="dim")
    if result.thinking_tokens:
        console.print(f"each answer had room for {result.thinking_tokens:,} tokens of thinking first", style="dim")
    if result.spent:
        console.print(_spent(result.spent), style="dim")
    console.print(Text(said_of_rate(result.leak_rate)), style="dim")
    if len(result.scenarios) > 1:
        for scenario in result.scenarios:
            console.print(_of_scenario(scenario))
    if result.unasked:
        console.print(f"not asked: {', '.join(f'{tokens:,}' for tokens in result.unasked)} tokens", style="yellow")
    console.print(Text.assemble((f"{result.verdict}", STYLES[result.verdict]), f": {result.reason}"))
    if rule := worst_rule(result):
        verified = f"{result.verified_tokens:,}" if result.verified_tokens else "no"
        console.print(f"right up to {verified} prompt tokens; what to do first: kvfence explain {rule.card.code}")


def _spent(spent: Spent) -> str:
    usd = "" if spent.usd is None else f", {spent.usd:,.4f} US dollars"
    tokens = f"{spent.prompt_tokens:,} prompt and {spent.answer_tokens:,} answer tokens"
    return f"spent: {tokens} in {spent.requests} tries{usd}"


def _seen(length: LengthResult) -> str:
    marks = "; ".join(sights(length, SIGHTS_SHOWN))
    why = length.why if length.scenario == "sweep" else f"{length.scenario}: {length.why}"
    return "; ".join(part for part in (why, marks, length.detail) if part)


def _of_scenario(scenario: ScenarioResult) -> Text:
    requests = f"{scenario.requests} request{'s' * (scenario.requests != 1)}"
    said = f" in {requests}" + f": {scenario.detail}" * bool(scenario.detail)
    return Text.assemble(f"{scenario.name}: ", (scenario.verdict, STYLES[scenario.verdict]), said)
