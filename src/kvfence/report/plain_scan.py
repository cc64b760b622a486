"""A scan with every text made fit for every format: a client sends any name, and evidence quotes logs."""

from __future__ import annotations

from dataclasses import replace

from kvfence.findings.exposure import Credential, Exposure, Logged, Match, NotRead, Sign
from kvfence.report.plain import plain, plain_name


def plain_scan(seen: Exposure) -> Exposure:
    """The same scan with every text plain."""
    return replace(
        seen,
        not_read=tuple(_not_read(one) for one in seen.not_read),
        matches=tuple(_match(match) for match in seen.matches),
        signs=tuple(_sign(sign) for sign in seen.signs),
        credentials=tuple(_credential(one) for one in seen.credentials),
        not_looked_for=tuple(plain(one) for one in seen.not_looked_for),
        window=replace(seen.window, model=_or_none(seen.window.model)),
    )


def _or_none(name: str | None) -> str | None:
    return None if name is None else plain_name(name)


def _logged(logged: Logged) -> Logged:
    return replace(
        logged,
        id=plain_name(logged.id),
        tenant=_or_none(logged.tenant),
        model=_or_none(logged.model),
        where=plain_name(logged.where),
    )


def _match(match: Match) -> Match:
    return replace(match, response=_logged(match.response), source=_logged(match.source), preview=plain(match.preview))


def _sign(sign: Sign) -> Sign:
    return replace(sign, kind=plain_name(sign.kind), request=_logged(sign.request), evidence=plain(sign.evidence))


def _credential(one: Credential) -> Credential:
    return replace(
        one,
        kind=plain_name(one.kind),
        redacted=plain(one.redacted),
        fingerprint=plain(one.fingerprint),
        requests=tuple(plain_name(request) for request in one.requests),
        owner=_or_none(one.owner),
    )


def _not_read(one: NotRead) -> NotRead:
    return replace(one, file=plain_name(one.file), why=plain(one.why))
