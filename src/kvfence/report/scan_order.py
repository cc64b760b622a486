"""In which order a person meets what a scan found: what is worst and surest first. Programs get the logs' order."""

from __future__ import annotations

from kvfence.findings.exposure import Credential, Exposure, Match, Sign


def matches_worst_first(seen: Exposure) -> list[Match]:
    """Another tenant's text first, then by how surprising and how long it is."""
    return sorted(seen.matches, key=lambda match: (not match.across_tenants, -match.score, -match.span_chars))


def signs_surest_first(seen: Exposure) -> list[Sign]:
    """By their calibrated score."""
    return sorted(seen.signs, key=lambda sign: -sign.score)


def to_rotate_first(seen: Exposure) -> list[Credential]:
    """Those that somebody else was shown first, then those in the most requests."""
    return sorted(seen.credentials, key=lambda one: (not one.in_foreign_answer, -len(one.requests)))
