"""A finding that is not the audit's, as a rule for formats that want one: a module's docstring is its page."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import cleandoc
from typing import Protocol

from kvfence.findings.finding import Confidence, Severity
from kvfence.findings.rule_card import RuleCard


class RuleModule(Protocol):
    """What a module of `probe_rules/` or `scan_rules/` holds."""

    ID: str
    CODE: str
    SEVERITY: Severity
    CONFIDENCE: Confidence
    FIX: str
    __doc__: str | None


@dataclass(frozen=True, slots=True)
class FindingRule:
    """One kind of finding: a name that never changes, how bad it is, what ends it."""

    card: RuleCard
    severity: Severity
    confidence: Confidence
    fix: str


def rule_of(module: RuleModule) -> FindingRule:
    """The rule that the module holds."""
    page = cleandoc(module.__doc__ or "")
    card = RuleCard(id=module.ID, code=module.CODE, title=page.partition("\n")[0], page=page)
    return FindingRule(card, module.SEVERITY, module.CONFIDENCE, module.FIX)
