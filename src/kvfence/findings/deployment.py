"""What an audit found: nodes with their facts, findings, and what could not be looked at. No format lives here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kvfence.findings.finding import Evidence, Finding
from kvfence.findings.level import Level, reaches
from kvfence.findings.rule_card import RuleCard
from kvfence.findings.source_tree import SourceTree
from kvfence.findings.verdict import Verdict

FactValue = str | int | bool | None
"""None: not known from what was read. Never a guess."""


@dataclass(frozen=True, slots=True)
class Node:
    """One start of one server or worker, by the name that its log gives it."""

    name: str
    facts: Mapping[str, FactValue]
    """Every name of `FACT_NAMES`, known or not."""
    sources: Mapping[str, Evidence] = field(default_factory=dict)
    """For each fact that is known, where it was read."""


@dataclass(frozen=True, slots=True)
class NotChecked:
    """Something that was asked for and could not be looked at, and why."""

    what: str
    why: str
    decisive: bool = True
    """Whether the answer could have been a finding; if so, the verdict cannot be clean."""
    rules: tuple[str, ...] = ()
    """Ids of the rules that could not be asked for it; empty where that is not known, which may be all of them."""
    broken: bool = False
    """Whether kvfence itself failed there, rather than what it was given."""

    def names(self, node: str) -> bool:
        """Whether it is about that node, alone or among others."""
        return self.what == node or node in self.what.split(", ")


@dataclass(frozen=True, slots=True)
class AuditResult:
    """All of it."""

    nodes: tuple[Node, ...]
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    rules: tuple[RuleCard, ...] = ()
    """What was asked, whether or not it found something."""
    trees: tuple[SourceTree, ...] = ()
    """Engines' code that was looked at."""
    baseline: str | None = None
    """The lock file that the nodes were compared with, or that they were recorded in where no rule was asked."""

    def code_of(self, finding: Finding) -> str | None:
        """The code of the rule that found it; None for a rule that was not among those asked."""
        return next((card.code for card in self.rules if card.id == finding.rule), None)

    @property
    def verdict(self) -> Verdict:
        """Clean only when there was something to look at, and all that decides could be."""
        return self.verdict_from(Level.NOTE)

    def verdict_from(self, threshold: Level) -> Verdict:
        """The same for a reader to whom findings below the threshold are none."""
        if any(reaches(finding.severity, threshold) for finding in self.findings):
            return Verdict.FOUND
        looked_at = bool(self.nodes) or any(tree.verdicts for tree in self.trees)
        if not looked_at or any(gap.decisive for gap in self.not_checked):
            return Verdict.UNKNOWN
        return Verdict.CLEAN
