"""A search through interleavings as JSON, schema 1. Keys are added, never changed; a violation can be replayed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kvfence.findings.interleaving import BrokenPromise, Interleavings

SCHEMA = 1


def document(seen: Interleavings, *, took_s: float) -> dict[str, Any]:
    """The whole of it, ready for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "rules": seen.rules,
        "bound": seen.bound,
        "complete": seen.complete,
        "states": seen.states,
        "seconds": round(took_s, 3),
        "spaces": [asdict(space) for space in seen.spaces],
        "violation": None if seen.violation is None else _violation(seen.violation),
    }


def _violation(broken: BrokenPromise) -> dict[str, Any]:
    return {
        "invariant": broken.invariant,
        "why": broken.why,
        "wire": broken.wire,
        "faults": broken.faults,
        "trace": [{**step.move, "says": step.says} for step in broken.trace],
        "mermaid": broken.diagram,
    }
