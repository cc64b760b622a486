"""An audit for a person at a terminal: nodes, findings worst first, what could not be looked at, the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kvfence.findings.deployment import AuditResult, FactValue, Node, NotChecked
from kvfence.findings.finding import Finding, Severity
from kvfence.findings.verdict import Verdict
from kvfence.report.as_text import page_text
from kvfence.report.plain import plain_result
from kvfence.report.trees_terminal import tree_table
from kvfence.report.verdict_words import by_severity, clean_words
from kvfence.report.worst_first import has_gap, nodes_worst_first, worst_of

_COLUMNS = (
    ("engine", "engine"),
    ("role", "role"),
    ("pool_tokens", "pool"),
    ("context_length", "context"),
    ("usable_length", "usable"),
    ("page_size", "page"),
    ("kv_dtype", "KV type"),
    ("tp_size", "TP"),
    ("checks", "checks"),
)
_STYLES = {
    Severity.CRITICAL: "bold white on red",
    Severity.HIGH: "bold red",
    Severity.MEDIUM: "bold yellow",
    Severity.LOW: "bold cyan",
    Severity.INFO: "bold",
}
_EVIDENCE_SHOWN = 3
_WIDTH_WITHOUT_TERMINAL = 160


def print_audit(result: AuditResult, console: Console | None = None) -> None:
    """Print the whole of it; without a terminal, as wide as it needs to be."""
    if console is None:
        console = Console()
        if not console.is_terminal:
            console = Console(width=_WIDTH_WITHOUT_TERMINAL)
    console.print(Group(*_parts(plain_result(result))))


def as_text(result: AuditResult) -> str:
    """The same as plain text, for a file."""
    return page_text(partial(print_audit, result), _WIDTH_WITHOUT_TERMINAL)


def _parts(result: AuditResult) -> Iterator[RenderableType]:
    if result.nodes:
        yield _nodes(result)
    for tree in result.trees:
        yield tree_table(tree)
    for finding in result.findings:
        yield from _finding(finding, result.code_of(finding) or "")
    if result.not_checked:
        yield Text("\nNot inspected", style="bold")
        for gap in result.not_checked:
            yield _gap(gap)
    yield _verdict(result)


def _nodes(result: AuditResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("node", overflow="fold")
    table.add_column("worst", no_wrap=True)
    for name, title in _COLUMNS:
        table.add_column(title, justify="right" if name.endswith(("tokens", "length", "size")) else "left")
    for node in nodes_worst_first(result):
        table.add_row(
            Text(node.name), _worst(result, node), *(Text(_shown(node.facts.get(name))) for name, _title in _COLUMNS)
        )
    return table


def _worst(result: AuditResult, node: Node) -> Text:
    worst = worst_of(result, node)
    if worst is not None:
        return Text(worst.value, style=_STYLES[worst])
    return Text("not all seen", style="yellow") if has_gap(result, node) else Text("-", style="dim")


def _shown(value: FactValue) -> str:
    if value is None:
        return "?"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _finding(finding: Finding, code: str) -> Iterator[RenderableType]:
    sure = "" if finding.confidence == "high" else f"  (confidence {finding.confidence})"
    yield Text.assemble(
        "\n",
        (f" {finding.severity.upper()} ", _STYLES[finding.severity]),
        " ",
        (f"{code} {finding.rule}".strip(), "bold"),
        f"  {finding.node}{sure}",
    )
    yield Padding(Text(finding.message), (0, 0, 0, 2))
    for seen in finding.evidence[:_EVIDENCE_SHOWN]:
        yield Padding(Text(f"{seen.place}: {seen.text}", style="dim", overflow="fold"), (0, 0, 0, 2))
    if len(finding.evidence) > _EVIDENCE_SHOWN:
        more = len(finding.evidence) - _EVIDENCE_SHOWN
        yield Padding(Text(f"and {more} more place{'s' * (more != 1)}", style="dim"), (0, 0, 0, 2))
    yield Padding(Text.assemble(("Fix: ", "bold green"), finding.fix), (0, 0, 0, 2))


def _gap(gap: NotChecked) -> RenderableType:
    return Padding(Text(f"{gap.what}: {gap.why}", style="" if gap.decisive else "dim"), (0, 0, 0, 2))


def _verdict(result: AuditResult) -> RenderableType:
    match result.verdict:
        case Verdict.FOUND:
            count = len(result.findings)
            return Text(f"\n{count} finding{'s' * (count != 1)}: {by_severity(result)}.", style="bold red")
        case Verdict.UNKNOWN:
            return Text("\nInconclusive: nothing was found, and not all of it could be looked at.", style="bold yellow")
        case Verdict.CLEAN:
            return Text(f"\n{clean_words(result)}", style="bold green" if result.rules else "bold")
