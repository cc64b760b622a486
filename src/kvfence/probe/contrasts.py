"""Where a scenario asks the same in two ways: do the two agree at each length? Pure.

A difference names the part that is at fault, which neither row does alone. It is told beside the verdict and changes
none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.record import Scenario, Seen
from kvfence.probe.rows import UNKNOWN, rows_by_length
from kvfence.probe.scenarios import shared_prefix, streaming


@dataclass(frozen=True, slots=True)
class Ways:
    """The `why` of the requests in question, and of those that they are held against."""

    tried: str
    control: str


WAYS: Mapping[Scenario, Ways] = {
    Scenario.SHARED_PREFIX: Ways(shared_prefix.SHARED, shared_prefix.UNIQUE),
    Scenario.STREAMING: Ways(streaming.STREAMED, streaming.WHOLE),
}


def contrasts(seen: Seen, scenario: Scenario) -> tuple[str, ...]:
    """A sentence for each length at which the two ways of a scenario have another verdict; none for other scenarios."""
    ways = WAYS.get(scenario)
    if ways is None:
        return ()
    sweep = {tokens: row.verdict for (tokens, _), row in rows_by_length(seen, Scenario.SWEEP)}
    rows = [(length, row.verdict) for length, row in rows_by_length(seen, scenario)]
    control = sweep | {tokens: verdict for (tokens, why), verdict in rows if why == ways.control}
    tried = [(tokens, verdict) for (tokens, why), verdict in rows if why == ways.tried]
    told = [
        f"at {tokens:,} tokens {ways.tried} is {verdict} and {ways.control} {control[tokens]}"
        for tokens, verdict in tried
        if tokens in control and verdict is not control[tokens] and _is_known(verdict, control[tokens])
    ]
    return tuple(told)


def _is_known(*verdicts: LengthVerdict) -> bool:
    return UNKNOWN.isdisjoint(verdicts)
