"""The published rules, looked up by the names that a report gives them. No rule and no format lives here."""

from __future__ import annotations

from difflib import get_close_matches

from kvfence.audit.baseline.direction import GATE_RULES
from kvfence.audit.registry import RULES
from kvfence.errors import UsageError
from kvfence.findings.rule_card import RuleCard


def cards() -> tuple[RuleCard, ...]:
    """Every rule of `audit` and of `gate`, by code."""
    return tuple(sorted((*(rule.card for rule in RULES), *GATE_RULES), key=lambda card: card.code))


def card_of(name: str) -> RuleCard:
    """The rule of that code or id, whatever its case.

    Raises:
        UsageError: there is none; the line names the nearest.
    """
    by_name = {spelled.casefold(): card for card in cards() for spelled in (card.code, card.id)}
    wanted = name.strip().casefold().replace("_", "-")
    if wanted in by_name:
        return by_name[wanted]
    near = get_close_matches(wanted, by_name, n=1, cutoff=0)
    nearest = by_name[near[0]] if near else cards()[0]
    raise UsageError(
        f"no rule is called {name!r}; the nearest is {nearest.code} ({nearest.id}). "
        "`kvfence explain` without a name lists all"
    )
