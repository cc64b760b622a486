"""What a probe may find, as rules for formats that want one: a name that never changes, how bad it is, what ends it."""

from __future__ import annotations

from collections.abc import Mapping

from kvfence.findings.recall import LengthVerdict
from kvfence.report.finding_rule import FindingRule, rule_of
from kvfence.report.probe_rules import garbled, leak, limit_overstated, lost, off_topic, truncated

PROBE_RULES: Mapping[LengthVerdict, FindingRule] = {
    LengthVerdict.LEAK: rule_of(leak),
    LengthVerdict.OFF_TOPIC: rule_of(off_topic),
    LengthVerdict.GARBLED: rule_of(garbled),
    LengthVerdict.TRUNCATED: rule_of(truncated),
    LengthVerdict.LOST: rule_of(lost),
    LengthVerdict.REFUSED: rule_of(limit_overstated),
}
"""By the verdict over a length. Codes of the audit end at KVF6xx."""
