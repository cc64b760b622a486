"""What a scan may find, as rules for formats that want one. Codes of the probe end at KVF7xx."""

from __future__ import annotations

from kvfence.report.finding_rule import rule_of
from kvfence.report.scan_rules import foreign_text, lost_context, secret

FOREIGN_TEXT = rule_of(foreign_text)
SECRET = rule_of(secret)
LOST_CONTEXT = rule_of(lost_context)
SCAN_RULES = (FOREIGN_TEXT, SECRET, LOST_CONTEXT)
