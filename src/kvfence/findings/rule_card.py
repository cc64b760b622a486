"""What a report may say of a rule: its names and its page. No rule and no format lives here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCard:
    """A rule as it is published. Neither its id nor its code ever changes its meaning or comes back for another."""

    id: str
    """In words, such as `pool-below-context`."""
    code: str
    """For suppressions and searches, such as `KVF101`."""
    title: str
    """One sentence."""
    page: str
    """Markdown: what it says, why it matters, how bad it is, what ends it."""
