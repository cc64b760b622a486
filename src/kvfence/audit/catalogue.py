"""The published rules, looked up by the names that a report gives them. No rule and no format lives here."""

from __future__ import annotations

from difflib import get_close_matches

from kvfence.audit.advisory import Advisory, advisories
from kvfence.audit.baseline.direction import GATE_RULES
from kvfence.audit.registry import RULES
from kvfence.audit.rules import affected_version
from kvfence.errors import UsageError
from kvfence.findings.rule_card import RuleCard
from kvfence.report.probe_cards import PROBE_RULES
from kvfence.report.scan_cards import SCAN_RULES


def cards() -> tuple[RuleCard, ...]:
    """Every rule of `audit` and of `gate`, and every finding of `probe` and `scan`, by code."""
    found = (rule.card for rule in (*PROBE_RULES.values(), *SCAN_RULES))
    return tuple(sorted((*(rule.card for rule in RULES), *GATE_RULES, *found), key=lambda card: card.code))


def card_of(name: str) -> RuleCard:
    """The rule of that code or id, or the advisory of that id, whatever its case.

    Raises:
        UsageError: there is none; the line names the nearest, where one is near.
    """
    by_name = {_plain(spelled): card for card in cards() for spelled in (card.code, card.id)}
    by_name |= {_plain(card.id): card for card in map(_advisory_card, advisories())}
    wanted = _plain(name)
    if wanted in by_name:
        return by_name[wanted]
    near = get_close_matches(wanted, by_name, n=1)
    nearest = f"; the nearest is {by_name[near[0]].code} ({by_name[near[0]].id})" if near else ""
    raise UsageError(f"no rule or advisory is called {name!r}{nearest}. `kvfence explain` without a name lists all")


def _plain(name: str) -> str:
    return name.strip().casefold().replace("_", "-").removeprefix("x-")


def _advisory_card(advisory: Advisory) -> RuleCard:
    """An advisory is a case of the rule that names it."""
    return RuleCard(id=advisory.id, code=affected_version.CODE, title=advisory.summary, page=advisory.page)
