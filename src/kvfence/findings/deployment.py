"""What an audit found: nodes with their facts, findings, and what could not be looked at. No format lives here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvfence.findings.finding import Finding
from kvfence.findings.verdict import Verdict

FactValue = str | int | bool | None
"""None: not known from what was read. Never a guess."""


@dataclass(frozen=True, slots=True)
class Node:
    """One server or worker, by the name that its log gives it."""

    name: str
    facts: Mapping[str, FactValue]


@dataclass(frozen=True, slots=True)
class NotChecked:
    """Something that was asked for and could not be looked at, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class AuditResult:
    """All of it."""

    nodes: tuple[Node, ...]
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]

    @property
    def verdict(self) -> Verdict:
        """Clean only when there was something to look at, and all of it could be."""
        if self.findings:
            return Verdict.FOUND
        return Verdict.CLEAN if self.nodes and not self.not_checked else Verdict.UNKNOWN
