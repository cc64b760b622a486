"""A probe as JSON, schema 1. Keys are added, never changed; what is not known is null."""

from __future__ import annotations

import dataclasses

from kvfence.findings.leak_rate import LeakRate
from kvfence.findings.origin import Origin
from kvfence.findings.recall import ProbeResult

SCHEMA = 1

Document = dict[str, object]


def document(result: ProbeResult) -> Document:
    """What `kvfence probe --format json` writes."""
    return {
        "schema": SCHEMA,
        "verdict": result.verdict,
        "reason": result.reason,
        "url": result.url,
        "model": result.model,
        "declared_context": result.declared_context,
        "thinking_tokens": result.thinking_tokens,
        "token_count_by": result.token_count_by,
        "tenants_told_apart_by": list(result.tenants_told_apart_by),
        "verified_tokens": result.verified_tokens,
        "requests": result.requests,
        "seed": result.seed,
        "spent": result.spent and dataclasses.asdict(result.spent),
        "unasked": list(result.unasked),
        "ended_by": result.ended_by or None,
        "refused_though_declared": list(result.refused_though_declared),
        "seconds": round(result.seconds, 3),
        "leak_rate": _rate(result.leak_rate),
        "scenarios": [dataclasses.asdict(scenario) for scenario in result.scenarios],
        "lengths": [
            {
                "scenario": length.scenario,
                "tokens": length.tokens,
                "why": length.why,
                "status": length.status,
                "verdict": length.verdict,
                "recalled": length.recalled,
                "planted": length.planted,
                "foreign": length.foreign,
                "asked": length.asked,
                "answers": dict(length.answers),
                "detail": length.detail,
                "leak_rate": _rate(length.leak_rate),
                "seconds": round(length.seconds, 3),
                "by_depth": {
                    "answers": length.by_depth.answers,
                    "came_back": list(length.by_depth.came_back),
                    "shares": [round(share, 4) for share in length.by_depth.shares],
                },
                "evidence": [
                    {
                        "planted_by": marker.planted_by,
                        "planted_at_tokens": marker.planted_at_tokens,
                        "depth": marker.depth,
                        "shown": marker.shown,
                        "origin": marker.origin and _origin(marker.origin),
                    }
                    for marker in length.evidence
                ],
            }
            for length in result.lengths
        ],
    }


def _origin(origin: Origin) -> Document:
    return {
        "campaign": origin.campaign,
        "seed": origin.seed,
        "endpoint": origin.endpoint,
        "model": origin.model,
        "request": origin.request,
        "planted_at": origin.planted_at,
    }


def _rate(rate: LeakRate | None) -> Document | None:
    if rate is None:
        return None
    return {
        "seen": rate.seen,
        "trials": rate.trials,
        "upper_bound": round(rate.upper_bound, 6),
        "confidence": rate.confidence,
    }
