"""A scan as one CSV table: a row for each finding, and for each thing that could not be looked at.

One table and not several files: it is filtered by its first column, it goes into one sheet and through one pipe, and
the rows that say what was not looked at cannot be left behind.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.findings.exposure import Credential, Exposure, Logged, Match, NotRead, Sign
from kvfence.report.csv_table import Cell, csv_text, ids_cell
from kvfence.report.scan_order import matches_worst_first, signs_surest_first, to_rotate_first
from kvfence.report.scan_words import reach, verdict_line
from kvfence.report.times import at_utc

COLUMNS = (
    *("record", "kind", "request_id", "tenant", "at_utc", "model", "where"),
    *("source_id", "source_tenant", "source_at_utc", "source_model", "source_where", "source_part"),
    *("between_s", "span_chars", "across_tenants", "candidates", "score", "shown"),
    *("fingerprint", "requests", "request_ids", "first_seen_utc", "last_seen_utc", "owner", "in_foreign_answer"),
)
_Row = dict[str, Cell]


def table(seen: Exposure) -> str:
    """The whole of it; its texts must be plain. `record`: verdict, match, sign, secret, not covered, not read."""
    return csv_text(COLUMNS, ([row.get(column) for column in COLUMNS] for row in _rows(seen)))


def _rows(seen: Exposure) -> Iterator[_Row]:
    yield {"record": "verdict", "kind": str(seen.verdict), "requests": seen.requests, "shown": verdict_line(seen)}
    yield from map(_match, matches_worst_first(seen))
    yield from map(_secret, to_rotate_first(seen))
    yield from map(_sign, signs_surest_first(seen))
    yield from map(_not_covered, reach(seen))
    yield from map(_not_read, seen.not_read)


def _match(match: Match) -> _Row:
    source = {f"source_{name}": value for name, value in _logged(match.source).items()}
    source["source_id"] = source.pop("source_request_id")
    return {
        "record": "match",
        "kind": "foreign text",
        **_logged(match.response),
        **source,
        "source_part": "prompt" if match.in_prompt else "answer",
        "between_s": None if match.between_ms is None else round(match.between_ms / 1000, 3),
        "span_chars": match.span_chars,
        "across_tenants": match.across_tenants,
        "candidates": match.candidates,
        "score": round(match.score, 4),
        "shown": match.preview,
    }


def _sign(sign: Sign) -> _Row:
    return {
        "record": "sign",
        "kind": sign.kind,
        **_logged(sign.request),
        "score": round(sign.score, 4),
        "shown": sign.evidence,
    }


def _secret(one: Credential) -> _Row:
    return {
        "record": "secret",
        "kind": one.kind,
        "shown": one.redacted,
        "fingerprint": one.fingerprint,
        "requests": len(one.requests),
        "request_ids": ids_cell(one.requests),
        "first_seen_utc": at_utc(one.first_ms),
        "last_seen_utc": at_utc(one.last_ms),
        "owner": one.owner,
        "in_foreign_answer": one.in_foreign_answer,
    }


def _not_covered(line: str) -> _Row:
    return {"record": "not covered", "shown": line}


def _not_read(one: NotRead) -> _Row:
    where = one.file if one.line is None else f"{one.file}:{one.line}"
    return {"record": "not read", "where": where, "requests": one.count, "shown": one.why}


def _logged(logged: Logged) -> _Row:
    return {
        "request_id": logged.id,
        "tenant": logged.tenant,
        "at_utc": at_utc(logged.at_ms),
        "model": logged.model,
        "where": logged.where,
    }
