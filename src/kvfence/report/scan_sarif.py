"""A scan as SARIF, by the audit's own writer: each answer with foreign text, each secret, each sign is a result.

A result is named by its request, so that it stays one finding over runs. What was not read or not looked for is a
notification of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from kvfence.findings.deployment import AuditResult, NotChecked
from kvfence.findings.exposure import Credential, Exposure, Logged, Match, Sign
from kvfence.findings.finding import Evidence, Finding, Severity
from kvfence.report import audit_sarif
from kvfence.report.run import Run
from kvfence.report.scan_cards import FOREIGN_TEXT, LOST_CONTEXT, SCAN_RULES, SECRET
from kvfence.report.scan_order import matches_worst_first, signs_surest_first, to_rotate_first
from kvfence.report.scan_words import counted, reach
from kvfence.report.times import after, at_utc

RESULTS_MAX = 5_000
"""So many of one run GitHub shows, and it takes no file of over 25,000. JSON has all of them."""
NOT_READ_MAX = 100


def document(seen: Exposure, run: Run) -> dict[str, Any]:
    """The whole of it, ready for `json.dumps`; its texts must be plain."""
    made = audit_sarif.document(_as_audit(seen), run)
    made["runs"][0]["properties"]["verdict"] = seen.verdict.value
    return made


def _as_audit(seen: Exposure) -> AuditResult:
    findings = chain(
        map(_match, matches_worst_first(seen)),
        map(_credential, to_rotate_first(seen)),
        map(_sign, signs_surest_first(seen)),
    )
    return AuditResult(
        nodes=(),
        findings=tuple(islice(findings, RESULTS_MAX)),
        not_checked=tuple(_gaps(seen)),
        rules=tuple(rule.card for rule in SCAN_RULES),
    )


def _match(match: Match) -> Finding:
    whose = "another tenant's" if match.across_tenants else "another request's"
    part = "prompt" if match.in_prompt else "answer"
    told = f"{match.span_chars:,} characters are {whose} text: they stand in the {part} of {match.source.id}"
    later = after(match.between_ms)
    several = f"; {match.candidates:,} requests have them" if match.candidates > 1 else ""
    return Finding(
        rule=FOREIGN_TEXT.card.id,
        severity=FOREIGN_TEXT.severity if match.across_tenants else Severity.HIGH,
        confidence=FOREIGN_TEXT.confidence,
        node=match.response.id,
        message=f"{told}{f' ({later})' if later else ''}{several}; score {match.score:.2f}.",
        evidence=(_place(match.response, match.preview), _place(match.source, "")),
        fix=FOREIGN_TEXT.fix,
    )


def _credential(one: Credential) -> Finding:
    where = "in an answer to somebody else" if one.in_foreign_answer else "in a request asked about"
    times = f", first {at_utc(one.first_ms)} UTC" if one.first_ms is not None else ""
    first = one.requests[0] if one.requests else "unknown"
    in_how_many = f"it is in {counted(len(one.requests), 'request')}"
    return Finding(
        rule=SECRET.card.id,
        severity=Severity.CRITICAL if one.in_foreign_answer else SECRET.severity,
        confidence=SECRET.confidence,
        node=one.fingerprint,
        message=f"A secret ({one.kind}, {one.redacted}) stood {where}; {in_how_many}{times}.",
        evidence=(Evidence(file=f"request {first}", line=None, text=one.redacted),),
        fix=SECRET.fix,
    )


def _sign(sign: Sign) -> Finding:
    return Finding(
        rule=LOST_CONTEXT.card.id,
        severity=LOST_CONTEXT.severity,
        confidence=LOST_CONTEXT.confidence,
        node=sign.request.id,
        message=f"{sign.kind}, score {sign.score:.2f}.",
        evidence=(_place(sign.request, sign.evidence),),
        fix=LOST_CONTEXT.fix,
    )


def _place(logged: Logged, text: str) -> Evidence:
    """`FILE:LINE` as its two parts."""
    file, _, line = logged.where.rpartition(":")
    is_line = bool(file) and line.isascii() and line.isdigit() and int(line) > 0
    return Evidence(file=file if is_line else logged.where, line=int(line) if is_line else None, text=text)


def _gaps(seen: Exposure) -> Iterator[NotChecked]:
    yield from (NotChecked("these logs", line) for line in reach(seen))
    for one in seen.not_read[:NOT_READ_MAX]:
        yield NotChecked(one.file if one.line is None else f"{one.file}:{one.line}", one.why)
    more = len(seen.matches) + len(seen.credentials) + len(seen.signs) - RESULTS_MAX
    if more > 0:
        yield NotChecked("these results", f"{more:,} more findings are only in --format json and csv")
