"""Tables for people."""

from __future__ import annotations

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kvfence.findings.deployment import AuditResult
from kvfence.findings.finding import Finding, Severity
from kvfence.findings.recall import LengthResult, ProbeResult
from kvfence.findings.verdict import Verdict

_STYLES = {
    "leak": "bold red",
    "broken": "bold red",
    "limit-overstated": "yellow",
    "inconclusive": "yellow",
    "error": "yellow",
    "refused": "cyan",
    "clean": "green",
    Verdict.FOUND: "bold red",
    Verdict.UNKNOWN: "yellow",
    Severity.CRITICAL: "bold red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
    Severity.INFO: "dim",
}


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
            Text(length.verdict, _STYLES[length.verdict]),
            f"{length.recalled}/{length.planted}",
            str(length.foreign or "-"),
            Text(_seen(length)),
        )
    console.print(table)
    console.print(f"declared context {result.declared_context:,}; lengths by {result.token_count_by}", style="dim")
    console.print(Text.assemble((f"{result.verdict}", _STYLES[result.verdict]), f": {result.reason}"))


def show_audit(result: AuditResult, console: Console) -> None:
    """Nodes, findings, and what could not be looked at."""
    if result.nodes:
        table = Table(title="What the logs say", title_justify="left", title_style="bold")
        columns = ("engine", "role", "pool_tokens", "context_length", "usable_length", "page_size", "checks")
        for heading in ("node", *columns):
            table.add_column(heading.replace("_", " "), overflow="fold")
        for node in result.nodes:
            table.add_row(node.name, *(_cell(node.facts.get(name)) for name in columns))
        console.print(table)
    for finding in result.findings:
        console.print(_finding(finding))
    for gap in result.not_checked:
        console.print(Text.assemble(("not checked  ", "yellow"), f"{gap.what}: {gap.why}"))
    words = {
        Verdict.FOUND: f"{len(result.findings)} found",
        Verdict.CLEAN: "clean: pool and context were read for every node, and no rule objects",
        Verdict.UNKNOWN: "inconclusive: not everything that matters could be read",
    }
    console.print(Text(words[result.verdict], _STYLES[result.verdict]))


def _seen(length: LengthResult) -> str:
    marks = "; ".join(
        f"{marker.shown} of {marker.planted_by}, planted at {marker.planted_at_tokens:,}" for marker in length.evidence
    )
    return "; ".join(part for part in (length.why, marks, length.detail) if part)


def _cell(value: object) -> str:
    if value is None:
        return "?"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _finding(finding: Finding) -> Group:
    head = Text.assemble(
        (f"{finding.severity}  ", _STYLES[finding.severity]), (finding.rule, "bold"), f"  {finding.node}"
    )
    places = [Text(f"{place.file}:{place.line}  {place.text}", "dim") for place in finding.evidence]
    parts = [Text(finding.message), *places, Text.assemble(("fix: ", "bold"), finding.fix)]
    return Group(head, *(Padding(part, (0, 0, 0, 2)) for part in parts))
