"""Names of requests and tenants as a report can tell them: some services name a user by the key that it sends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from kvfence.findings.exposure import Exposure, Logged


def with_told_names(seen: Exposure, told: Callable[[str], str]) -> Exposure:
    """The same findings, with each id, tenant and model as `told` says it."""
    tell = cache(told)

    def logged(one: Logged) -> Logged:
        tenant, model = (None if name is None else tell(name) for name in (one.tenant, one.model))
        return replace(one, id=tell(one.id), tenant=tenant, model=model)

    return replace(
        seen,
        matches=tuple(replace(one, response=logged(one.response), source=logged(one.source)) for one in seen.matches),
        signs=tuple(replace(one, request=logged(one.request)) for one in seen.signs),
    )
