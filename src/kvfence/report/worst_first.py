"""In which order nodes are shown to people: those with the worst findings first. No format lives here."""

from __future__ import annotations

from kvfence.findings.deployment import AuditResult, Node
from kvfence.findings.finding import Severity

_WORST_FIRST = tuple(Severity)


def worst_of(result: AuditResult, node: Node) -> Severity | None:
    """The worst severity that was found on a node, if anything was."""
    found = [finding.severity for finding in result.findings if finding.node == node.name]
    return min(found, key=_WORST_FIRST.index, default=None)


def nodes_worst_first(result: AuditResult) -> tuple[Node, ...]:
    """Findings before gaps before clean; among equals, in the order in which they were named."""

    def rank(node: Node) -> int:
        worst = worst_of(result, node)
        if worst is not None:
            return _WORST_FIRST.index(worst)
        return len(_WORST_FIRST) + (not has_gap(result, node))

    return tuple(sorted(result.nodes, key=rank))


def has_gap(result: AuditResult, node: Node) -> bool:
    """Whether something that decides could not be looked at on it."""
    return any(gap.decisive and gap.names(node.name) for gap in result.not_checked)
