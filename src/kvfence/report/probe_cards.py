"""What a probe may find, as rules for formats that want one: a name that never changes, how bad it is, what ends it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import cleandoc
from typing import Protocol

from kvfence.findings.finding import Confidence, Severity
from kvfence.findings.recall import LengthVerdict
from kvfence.findings.rule_card import RuleCard
from kvfence.report.probe_rules import garbled, leak, limit_overstated, lost, off_topic, truncated


class _Module(Protocol):
    """What a module of `probe_rules/` holds."""

    ID: str
    CODE: str
    SEVERITY: Severity
    CONFIDENCE: Confidence
    FIX: str
    __doc__: str | None


@dataclass(frozen=True, slots=True)
class ProbeRule:
    """One verdict over a length that is a finding."""

    card: RuleCard
    severity: Severity
    confidence: Confidence
    fix: str


def _rule(module: _Module) -> ProbeRule:
    page = cleandoc(module.__doc__ or "")
    card = RuleCard(id=module.ID, code=module.CODE, title=page.partition("\n")[0], page=page)
    return ProbeRule(card, module.SEVERITY, module.CONFIDENCE, module.FIX)


PROBE_RULES: Mapping[LengthVerdict, ProbeRule] = {
    LengthVerdict.LEAK: _rule(leak),
    LengthVerdict.OFF_TOPIC: _rule(off_topic),
    LengthVerdict.GARBLED: _rule(garbled),
    LengthVerdict.TRUNCATED: _rule(truncated),
    LengthVerdict.LOST: _rule(lost),
    LengthVerdict.REFUSED: _rule(limit_overstated),
}
"""By the verdict over a length. Codes of the audit end at KVF6xx."""
