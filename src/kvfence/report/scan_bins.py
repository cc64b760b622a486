"""A scan's requests over time, as bars of one picture: how wide a bar is, and what stands in it. Nothing is drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kvfence.findings.exposure import Exposure
from kvfence.report.times import at_utc, span_of

BINS_MAX = 96
_HOUR_MS = 3_600_000
_WIDTHS_MS = tuple(_HOUR_MS * hours for hours in (1, 3, 6, 12, 24, 7 * 24, 30 * 24, 365 * 24))
"""What one counts by: hours, days, weeks, about months, about years."""


@dataclass(frozen=True, slots=True)
class Bin:
    """What began in one stretch of time."""

    from_ms: int
    requests: int
    exposed: int
    carrying: int
    """Answers that carry another's text."""

    def told(self) -> str:
        """In words."""
        said = f"from {at_utc(self.from_ms)} UTC: {self.requests:,} requests, {self.exposed:,} in the window"
        return f"{said}, {self.carrying:,} answers with text of another request"


@dataclass(frozen=True, slots=True)
class Bins:
    """All of them, in the order of time and without a gap."""

    width_ms: int
    bins: tuple[Bin, ...]
    untimed: int
    """Answers with another's text that stand in none: their log has no time."""

    @property
    def each(self) -> str:
        """How long one is: `1 h`, `7 d`."""
        return span_of(self.width_ms)


def bins_of(seen: Exposure) -> Bins | None:
    """At most `BINS_MAX` of them; None where no request has a time."""
    if not seen.hours:
        return None
    first, last = min(hour.from_ms for hour in seen.hours), max(hour.from_ms for hour in seen.hours)
    width = _width(first, last)
    first -= first % width
    count = (last - first) // width + 1
    requests, exposed = [0] * count, [0] * count
    for hour in seen.hours:
        place = (hour.from_ms - first) // width
        requests[place] += hour.requests
        exposed[place] += hour.exposed
    carrying = _carrying(seen, first, width)
    bins = (Bin(first + place * width, requests[place], exposed[place], carrying[place]) for place in range(count))
    return Bins(width, tuple(bins), untimed=sum(n for place, n in carrying.items() if not 0 <= place < count))


def _width(first: int, last: int) -> int:
    for width in _WIDTHS_MS:
        if (last - first % width) // width - first // width < BINS_MAX:
            return width
    return _WIDTHS_MS[-1] * -(-(last - first + _WIDTHS_MS[-1]) // (_WIDTHS_MS[-1] * (BINS_MAX - 1)))


def _carrying(seen: Exposure, first: int, width: int) -> Counter[int]:
    """Answers by their place; those without a time are at -1."""
    times = {(match.response.id, match.response.where): match.response.at_ms for match in seen.matches}
    return Counter(-1 if at is None else (at - first) // width for at in times.values())
