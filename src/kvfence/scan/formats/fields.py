"""A field of a peer's record as the kind of value that it should be; None where it is another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_COUNT_MAX = 1 << 53
_STATUSES = range(100, 600)
_OK = frozenset({"success", "succeeded", "ok", "completed", "status_code_ok", "true", "default", "unset"})
_FAILED = frozenset({"failure", "failed", "error", "status_code_error", "false"})
_MS_PER_UNIT = ((1e11, 1000, 1), (1e14, 1, 1), (1e17, 1, 1000), (math.inf, 1, 1_000_000))
"""Epoch times by their size: seconds up to the year 5138, then milli-, micro- and nanoseconds. As fractions: a float
has not the digits of a time in nanoseconds."""
_DIGITS_MAX = 30
_YEAR_MAX_MS = 253_402_300_799_999


def first(record: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that has a value."""
    return next((value for name in names if (value := record.get(name)) not in (None, "")), None)


def inside(value: Any, *path: str | int) -> Any:
    """What stands at a path of keys and indexes; None where anything on it is missing or of another kind."""
    for step in path:
        if isinstance(value, Mapping) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def name_of(value: Any) -> str | None:
    """A name or an id; numbers are taken as they are written."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    return (value.strip() or None) if isinstance(value, str) else None


def count_of(value: Any) -> int | None:
    """A count from 0, also where it is written as text or with a decimal point."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _COUNT_MAX:
        return None
    return int(value)


def status_of(value: Any) -> int | None:
    """A status of HTTP; 200 or 500 where success or failure is said in a word."""
    if isinstance(value, bool):
        return 200 if value else 500
    if isinstance(value, str) and not value.strip().isdigit():
        word = value.strip().lower()
        return 200 if word in _OK else 500 if word in _FAILED else None
    status = count_of(value)
    return status if status in _STATUSES else None


def ms_of(value: Any) -> int | None:
    """A time in milliseconds since 1970, of ISO text, or of an epoch in any unit. Without a zone it is taken as UTC."""
    if isinstance(value, datetime):
        return _ms_of_datetime(value)
    if isinstance(value, str):
        text = value.strip().removesuffix(" UTC")
        try:
            return _ms_of_datetime(datetime.fromisoformat(text))
        except (ValueError, OverflowError):
            pass
        try:
            value = int(text) if text.isdecimal() and len(text) < _DIGITS_MAX else float(text)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return None
    times, per = next(parts for over, *parts in _MS_PER_UNIT if value < over)
    ms = value * times // per if isinstance(value, int) else round(value * times / per)
    return ms if ms <= _YEAR_MAX_MS else None


def _ms_of_datetime(value: datetime) -> int:
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return round((aware - datetime.fromtimestamp(0, UTC)).total_seconds() * 1000)
