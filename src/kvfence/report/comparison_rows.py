"""What every format says of a vendor beside the others: the cells of one table, as texts. No format lives here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kvfence.findings.comparison import Comparison, ProviderResult, Refusals
from kvfence.report.plain import plain, plain_name
from kvfence.report.plain_probe import plain_probe

HEADINGS = ("provider", "declared", "verified", "first length that fails, and how", "refusals", "verdict")
NOT_PROBED = "not probed"
REFUSALS_TOLD = {
    Refusals.WRONG_ANSWERS: "no: answered wrongly",
    Refusals.ERRORS: "no: errors instead",
    Refusals.OVERSTATED: "no: too early",
    Refusals.HONEST: "honest",
    Refusals.NONE: "none seen",
    Refusals.UNKNOWN: "not known",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One vendor."""

    name: str
    declared: str
    verified: str
    first_failure: str
    refusals: str
    verdict: str
    reason: str
    """One sentence on the verdict, or why there is none."""
    provider: ProviderResult


def rows_of(comparison: Comparison) -> tuple[Row, ...]:
    """In the order of the file."""
    return tuple(_row(provider) for provider in comparison.providers)


def plain_comparison(comparison: Comparison) -> Comparison:
    """The same comparison with every text plain."""
    return replace(comparison, providers=tuple(_plain(provider) for provider in comparison.providers))


def said_of_cost(comparison: Comparison) -> str:
    """What all of them took, in a sentence without a full stop."""
    usd = "" if comparison.usd is None else f", {comparison.usd:,.4f} US dollars"
    return (
        f"{comparison.tokens:,} tokens of prompts and answers{usd}, {comparison.seconds:,.1f} s; seed {comparison.seed}"
    )


def asked_at(provider: ProviderResult) -> str:
    """Whom the requests went to, and what their answers had room for beside what was asked."""
    pinned = f", {provider.pinned} pinned" if provider.pinned else ""
    thinking = provider.result.thinking_tokens if provider.result else 0
    room = f", {thinking:,} tokens of thinking in each answer" if thinking else ""
    return f"{provider.model} at {provider.url} ({provider.kind}{pinned}{room})"


def _row(provider: ProviderResult) -> Row:
    result, failed = provider.result, provider.first_failure
    how = "none"
    if failed is not None:
        status = f", status {failed.status}" if failed.status not in {None, 200} else ""
        how = f"{failed.tokens:,}: {failed.verdict}{status}"
    return Row(
        name=provider.name,
        declared="-" if result is None or result.declared_context is None else f"{result.declared_context:,}",
        verified="-" if result is None else f"{result.verified_tokens:,}",
        first_failure="-" if result is None else how,
        refusals=REFUSALS_TOLD[provider.refusals],
        verdict=NOT_PROBED if result is None else result.verdict,
        reason=provider.stopped if result is None else result.reason,
        provider=provider,
    )


def _plain(provider: ProviderResult) -> ProviderResult:
    return replace(
        provider,
        name=plain_name(provider.name),
        url=plain_name(provider.url),
        model=plain_name(provider.model),
        pinned=provider.pinned and plain_name(provider.pinned),
        stopped=plain(provider.stopped),
        result=provider.result and plain_probe(provider.result),
    )
