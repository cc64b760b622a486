"""A scan as JSON, schema 1. Keys are added, never changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kvfence.findings.exposure import Credential, Exposure, Logged, Match, Sign

SCHEMA = 1


def document(seen: Exposure) -> dict[str, Any]:
    """The whole of it, ready for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "verdict": str(seen.verdict),
        "requests": seen.requests,
        "exposed": seen.exposed,
        "window": asdict(seen.window),
        "skipped": seen.skipped,
        "coverage": asdict(seen.coverage),
        "not_looked_for": list(seen.not_looked_for),
        "matches": [_match(match) for match in seen.matches],
        "signs": [_sign(sign) for sign in seen.signs],
        "signs_left_out": seen.signs_left_out,
        "secrets": [_credential(credential) for credential in seen.credentials],
        "not_read": [asdict(unread) for unread in seen.not_read],
        "hours": [asdict(hour) for hour in seen.hours],
    }


def _match(match: Match) -> dict[str, Any]:
    return {
        "response_id": match.response.id,
        "source_id": match.source.id,
        "span_chars": match.span_chars,
        "across_tenants": match.across_tenants,
        "preview": match.preview,
        "score": round(match.score, 4),
        "source_part": "prompt" if match.in_prompt else "answer",
        "candidates": match.candidates,
        "between_ms": match.between_ms,
        "response_char": match.response_char,
        "source_char": match.source_char,
        "response": _logged(match.response),
        "source": _logged(match.source),
    }


def _sign(sign: Sign) -> dict[str, Any]:
    return {
        "kind": sign.kind,
        "request_id": sign.request.id,
        "score": round(sign.score, 4),
        "evidence": sign.evidence,
        "request": _logged(sign.request),
    }


def _credential(credential: Credential) -> dict[str, Any]:
    return {**asdict(credential), "requests": list(credential.requests)}


def _logged(logged: Logged) -> dict[str, Any]:
    return asdict(logged)
