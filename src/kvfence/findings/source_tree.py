"""What was decided about an engine's source tree, fix by fix. No format and no reader lives here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kvfence.findings.finding import Evidence


class Presence(StrEnum):
    """Whether a tree does what a fix makes it do."""

    PRESENT = "present"
    ABSENT = "absent"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixVerdict:
    """One fix in one tree, decided by what the code does."""

    fix: str
    """Its published id: an id never changes its meaning."""
    presence: Presence
    reason: str
    """One clause: what the code does, or why nothing can be said."""
    seen: Evidence | None
    """The line that decided; none where there is no such line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTree:
    """One engine's code in one target."""

    name: str
    """The folder of its package, or the wheel, as it can be printed."""
    engine: str
    version_said: str | None
    """What the tree calls itself. It decides nothing: forks, nightlies and backports say anything."""
    verdicts: tuple[FixVerdict, ...]
    """Every question about this engine, in their order; none if the tree has no disaggregated serving."""

    def verdict(self, fix: str) -> FixVerdict | None:
        """What was decided about one fix."""
        return next((verdict for verdict in self.verdicts if verdict.fix == fix), None)

    def has(self, fix: str) -> bool:
        """Whether that fix is known to be in this tree."""
        verdict = self.verdict(fix)
        return verdict is not None and verdict.presence is Presence.PRESENT
