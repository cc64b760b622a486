"""The part of a scan that concerns one tenant: its text in others' answers, others' in its own, its secrets."""

from __future__ import annotations

from dataclasses import replace

from kvfence.findings.exposure import Exposure


def of_tenant(seen: Exposure, tenant: str) -> Exposure:
    """The same scan without what concerns only others. Counts of requests stay those of all: a log is one."""
    return replace(
        seen,
        matches=tuple(match for match in seen.matches if tenant in {match.source.tenant, match.response.tenant}),
        signs=tuple(sign for sign in seen.signs if sign.request.tenant == tenant),
        credentials=tuple(one for one in seen.credentials if one.owner == tenant),
    )
