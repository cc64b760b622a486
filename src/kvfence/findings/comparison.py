"""Several vendors of one model, each with what a probe found out about it, side by side. No format lives here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kvfence.findings.recall import LengthResult, LengthVerdict, ProbeResult
from kvfence.findings.verdict import Verdict, combined

WRONG = frozenset(
    {
        LengthVerdict.LEAK,
        LengthVerdict.OFF_TOPIC,
        LengthVerdict.GARBLED,
        LengthVerdict.TRUNCATED,
        LengthVerdict.LOST,
    }
)
"""A success with the wrong content."""


class Refusals(StrEnum):
    """What becomes of prompts that are too long; the worst that was seen."""

    WRONG_ANSWERS = "answered wrongly"
    """Status 200 and the wrong content, at whatever length, where only a right answer or a refusal is honest."""
    ERRORS = "errors"
    """A 5xx or a broken connection in place of a refusal, past what is declared."""
    OVERSTATED = "too early"
    """What fits into the declared context is refused."""
    HONEST = "honest"
    """All that is declared is taken, and what is longer is refused with a 4xx."""
    NONE = "none seen"
    """What is longer than declared was answered rightly as well."""
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderResult:
    """One vendor: what a probe of it found, or why there was none."""

    name: str
    kind: str
    url: str
    model: str
    """As this vendor calls it."""
    pinned: str | None = None
    """To whom a router hands it on."""
    result: ProbeResult | None = None
    stopped: str = ""
    """Why it could not be probed."""

    @property
    def outcome(self) -> Verdict:
        """Of one that could not be probed nothing is known."""
        return self.result.outcome if self.result else Verdict.UNKNOWN

    @property
    def first_failure(self) -> LengthResult | None:
        """The shortest prompt that was neither answered rightly nor honestly refused; None where there was none."""
        failed = [row for row in self._rows if not self._is_right(row)]
        return min(failed, key=lambda row: row.tokens, default=None)

    @property
    def refusals(self) -> Refusals:
        """What is known of prompts that are too long."""
        result = self.result
        if result is None or not self._rows or self._rows[0].verdict is not LengthVerdict.CLEAN:
            return Refusals.UNKNOWN  # under a control that failed, nothing longer proves anything
        declared = result.declared_context
        past = {row.verdict for row in self._rows if declared is not None and row.tokens > declared}
        if any(row.verdict in WRONG for row in self._rows):
            return Refusals.WRONG_ANSWERS
        if LengthVerdict.ERROR in past:
            return Refusals.ERRORS
        if result.refused_though_declared:
            return Refusals.OVERSTATED
        if LengthVerdict.REFUSED in past:
            return Refusals.HONEST
        return Refusals.NONE if LengthVerdict.CLEAN in past else Refusals.UNKNOWN

    @property
    def _rows(self) -> tuple[LengthResult, ...]:
        return self.result.lengths if self.result else ()

    def _is_right(self, row: LengthResult) -> bool:
        refused = self.result.refused_though_declared if self.result else ()
        honest = row.verdict is LengthVerdict.REFUSED and row.tokens not in refused
        return honest or row.verdict is LengthVerdict.CLEAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All vendors of a file, in its order."""

    providers: tuple[ProviderResult, ...]
    seed: int
    """From which each vendor's own seed follows."""
    tokens: int
    """Of all prompts and answers together, those of vendors that could not be probed as well."""
    usd: float | None
    """None where a price is missing."""
    seconds: float = 0.0

    @property
    def outcome(self) -> Verdict:
        """The worst, as every command's exit code has it."""
        return combined(provider.outcome for provider in self.providers)
