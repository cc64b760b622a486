"""How many requests began in each hour of the past, for a picture; in bounded memory whatever times a log has."""

from __future__ import annotations

from kvfence.findings.exposure import Hour

HOURS_MAX = 100_000
"""Eleven years. Times that are scattered over more are not those of requests, and make no picture."""
HOUR_MS = 3_600_000


class Timeline:
    """Takes counts as they come."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[int, int]] = {}
        self._is_scattered = False

    def add(self, hour: int | None, *, requests: int, exposed: int) -> None:
        """Count them; `hour`: since 1970, UTC, None where the log has no time."""
        if hour is None or self._is_scattered:
            return
        before = self._counts.get(hour, (0, 0))
        self._counts[hour] = (before[0] + requests, before[1] + exposed)
        if len(self._counts) > HOURS_MAX:
            self._is_scattered = True
            self._counts.clear()

    def hours(self) -> tuple[Hour, ...]:
        """In the order of time; none where the times are scattered."""
        return tuple(
            Hour(from_ms=hour * HOUR_MS, requests=requests, exposed=exposed)
            for hour, (requests, exposed) in sorted(self._counts.items())
        )
