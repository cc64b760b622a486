"""What a probe leaves open, in sentences: no report of it ends without them."""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.findings.leak_rate import LeakRate, trials_needed
from kvfence.findings.listed import listed
from kvfence.findings.recall import LengthVerdict, ProbeResult

GOOD_BOUND = 0.01
"""A leak rate that shows how many more answers it would take to say something strong."""
LISTED_MAX = 12
_UNKNOWN = {LengthVerdict.ERROR, LengthVerdict.ELSEWHERE, LengthVerdict.INCONCLUSIVE}


def not_covered(result: ProbeResult) -> tuple[str, ...]:
    """One sentence each, without a full stop."""
    return tuple(_sentences(result))


def said_of_rate(rate: LeakRate) -> str:
    """How much the answers say of the next ones, in a sentence."""
    said = f"{rate.seen} of {rate.trials} answers that recited markers leaked"
    if not rate.trials:
        return f"{said}: nothing is known of how often they would"
    said += f": at {rate.confidence:.0%} confidence at most {100 * rate.upper_bound:.3g} % of such answers do"
    if rate.seen or rate.upper_bound <= GOOD_BOUND:
        return said
    return f"{said}; {trials_needed(GOOD_BOUND):,} without a leak would say at most {100 * GOOD_BOUND:g} %"


def _sentences(result: ProbeResult) -> Iterator[str]:
    if result.unasked:
        lengths = [f"{tokens:,}" for tokens in sorted(set(result.unasked))]
        ended = result.ended_by or "a limit was reached"
        yield f"{ended} before these prompt tokens could be asked: {listed(lengths, LISTED_MAX)}"
    for row in (row for row in result.lengths if row.verdict in _UNKNOWN):
        yield f"nothing is known of {row.tokens:,} prompt tokens ({row.scenario}): {row.detail or row.verdict}"
    if "api key" not in result.tenants_told_apart_by:
        apart = ", ".join(result.tenants_told_apart_by)
        by = f"only in {apart}, which an endpoint may accept and not heed" if apart else "in nothing that it accepts"
        yield f"the tenants differed {by}: an endpoint that keeps tenants apart by key saw one"
    for scenario in result.scenarios:
        if not scenario.requests:
            yield f"{scenario.name}: {scenario.detail}"
    manners = tuple(dict.fromkeys(row.scenario for row in result.lengths))
    if manners == ("sweep",):
        yield "requests were sent one after the other: a fault that needs several at once could not show"
    yield "lengths between those of the table were not asked"
    if not result.leak_rate.seen:
        yield said_of_rate(result.leak_rate)
