"""Times of the past as a person reads them: UTC, to the second, and whatever a log says without an error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


def at_utc(ms: int | None) -> str:
    """`2026-08-28 10:00:00`, as spreadsheets read it; empty where no time is known, the number where it is no date."""
    if ms is None:
        return ""
    try:
        return (_EPOCH + timedelta(milliseconds=ms)).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError):
        return f"{ms} ms"


def shown_utc(ms: int | None) -> str:
    """The same to the minute with its zone, in a sentence; `at an unknown time` where none is known."""
    at = at_utc(ms)
    if not at:
        return "at an unknown time"
    return at if at.endswith(" ms") else f"{at[:-3]} UTC"


def span_of(ms: int) -> str:
    """How long it is, by its two largest units: `2 d 3 h`, `48 min`, `0 s`."""
    left, counts = abs(ms) // 1000, []
    for name, size in _UNITS:
        count, left = divmod(left, size)
        counts.append((count, name))
    first = next((place for place, (count, _) in enumerate(counts) if count), len(counts))
    return " ".join(f"{count} {name}" for count, name in counts[first : first + 2] if count) or "0 s"


def after(ms: int | None) -> str:
    """The time from another's request to this answer: `48 min later`, `3 h before`; empty where one is not known."""
    if ms is None:
        return ""
    return f"{span_of(ms)} {'before' if ms < 0 else 'later'}"
