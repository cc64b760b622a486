"""A plan as JSON, schema 1. Keys are added, never changed; sizes are in bytes, lengths in tokens."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kvfence.findings.forecast import Attempt, Forecast, Spread

SCHEMA = 1


def document(forecast: Forecast) -> dict[str, Any]:
    """The whole plan, ready for `json.dumps`."""
    change = forecast.change
    return {
        "schema": SCHEMA,
        "verdict": forecast.verdict.value,
        "standing": forecast.standing.value,
        "model": forecast.model,
        "family": forecast.family,
        "engine": forecast.engine,
        "setting": forecast.setting,
        "context": forecast.context,
        "requests": forecast.requests,
        "pools": forecast.pools,
        "needed_tokens": forecast.needed,
        "promise_tokens": forecast.promise,
        "pool_tokens": _spread(forecast.pool),
        "usable_length": _spread(forecast.usable),
        "memory_bytes": [_whole(asdict(share)) for share in forecast.shares],
        "kept": [asdict(cost) for cost in forecast.costs],
        "change": None if change is None else _attempt(change),
        "tried": [_attempt(attempt) for attempt in forecast.tried],
        "notes": list(forecast.notes),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "what": attempt.what,
        "flags": attempt.flags,
        "pool_tokens": _spread(attempt.pool),
        "needed_tokens": attempt.needed,
        "fits": attempt.fits,
    }


def _spread(spread: Spread) -> dict[str, int]:
    return {"low": spread.low, "likely": spread.likely, "high": spread.high}


def _whole(share: dict[str, Any]) -> dict[str, Any]:
    return {name: int(value) if isinstance(value, float) else value for name, value in share.items()}
