"""Scans of invented logs, among them those whose every text is meant to break a format."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from kvfence.findings.custody import FileRead
from kvfence.findings.exposure import Credential, Exposure, Hour, Logged, Match, NotRead, Sign, TextCoverage
from kvfence.findings.window import Window
from kvfence.report.run import Run
from kvfence.report.scan_facts import ScanFacts
from kvfence.report.scan_formats import ScanFormat, rendered

RUN = Run(command="scan", at=datetime(2026, 12, 3, 10, 30, 15, 250, UTC), took_s=61.5)
READ = (
    FileRead(file="logs/a b.jsonl", size_bytes=12_345, modified_ms=1_787_911_200_000, sha256="ab" * 32),
    FileRead(file="https://logs.example/<b>.jsonl", size_bytes=None, modified_ms=None),
)
T0 = 1_787_911_200_000
"""2026-08-28 10:00 UTC."""
FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "a;=1+1",
    'a",=1',
    "\N{FULLWIDTH EQUALS SIGN}1",
    " =cmd|' /C calc'!A0",
    "a\n=1",
)


def logged(text: str, *, tenant: str | None = None, at_ms: int | None = T0) -> Logged:
    return Logged(id=text, tenant=tenant if tenant is not None else text, at_ms=at_ms, model=text, where=f"{text}:3")


def match(text: str = "r1", source: str = "s1", **changes) -> Match:
    given = {
        "response": logged(text, tenant=f"{text} Ltd"),
        "source": logged(source, tenant=f"{source} Ltd", at_ms=T0 - 2_880_000),
        "candidates": 1,
        "in_prompt": True,
        "span_chars": 412,
        "response_char": 7,
        "source_char": 90,
        "across_tenants": True,
        "score": 0.98,
        "preview": f"{text[:4]}… (408 more)",
    }
    return Match(**given | changes)


def sign(text: str = "language", **changes) -> Sign:
    given = {"kind": text, "request": logged(text), "score": 0.7, "evidence": f"{text}: zh in the answer, en before"}
    return Sign(**given | changes)


def credential(text: str = "AWS key id", **changes) -> Credential:
    given = {
        "kind": text,
        "redacted": f"{text[:4]}… (16 more)",
        "fingerprint": "0f" * 32,
        "requests": (text, f"{text} again"),
        "first_ms": T0,
        "last_ms": T0 + 3_600_000,
        "owner": text,
        "in_foreign_answer": False,
    }
    return Credential(**given | changes)


def exposure(**changes) -> Exposure:
    """Clean, of three whole requests, where nothing else is said."""
    given = {
        "requests": 3,
        "exposed": 2,
        "coverage": TextCoverage(whole=3, cut=0, encrypted=0, omitted=0),
        "not_read": (),
        "matches": (),
        "signs": (),
        "credentials": (),
        "hours": (Hour(from_ms=T0, requests=2, exposed=1), Hour(from_ms=T0 + 7_200_000, requests=1, exposed=1)),
    }
    return Exposure(**given | changes)


def exposure_of(text: str) -> Exposure:
    """One of everything, and each of its texts is this one."""
    return exposure(
        requests=6,
        coverage=TextCoverage(whole=3, cut=1, encrypted=1, omitted=1),
        not_read=(NotRead(file=text, line=3, why=text), NotRead(file=text, line=None, why=text, count=4)),
        matches=(match(text, text, preview=text), match(text, text, in_prompt=False, candidates=3)),
        signs=(sign(text, evidence=text),),
        credentials=(credential(text, redacted=text), credential(text, in_foreign_answer=True)),
        not_looked_for=(text,),
        window=Window(longer_than=681_280, from_ms=T0, to_ms=T0 + 86_400_000, model=text),
    )


def written(seen: Exposure, form: ScanFormat, *, letter_for: str | None = None) -> str:
    """The scan in that format, of a run at a fixed time."""
    return rendered(seen, form, ScanFacts(run=RUN, read=READ, letter_for=letter_for))


times = st.none() | st.integers(-(2**63), 2**63 - 1)
texts = st.text(max_size=40) | st.sampled_from(FORMULAS)
names = st.none() | texts
_logged = st.builds(Logged, id=texts, tenant=names, at_ms=times, model=names, where=texts)
_counts = st.integers(0, 2**40)
_scores = st.floats(0, 1)
exposures = st.builds(
    Exposure,
    requests=_counts,
    exposed=_counts,
    coverage=st.builds(TextCoverage, whole=_counts, cut=_counts, encrypted=_counts, omitted=_counts),
    not_read=st.lists(
        st.builds(NotRead, file=texts, line=st.none() | _counts, why=texts, count=st.integers(1, 9)), max_size=3
    ).map(tuple),
    matches=st.lists(
        st.builds(
            Match,
            response=_logged,
            source=_logged,
            candidates=st.integers(1, 9),
            preview=texts,
            score=_scores,
            span_chars=_counts,
            response_char=_counts,
            source_char=_counts,
        ),
        max_size=3,
    ).map(tuple),
    signs=st.lists(st.builds(Sign, kind=texts, request=_logged, score=_scores, evidence=texts), max_size=3).map(tuple),
    credentials=st.lists(
        st.builds(
            Credential,
            kind=texts,
            redacted=texts,
            fingerprint=texts,
            requests=st.lists(texts, max_size=30).map(tuple),
            first_ms=times,
            last_ms=times,
            owner=names,
        ),
        max_size=3,
    ).map(tuple),
    not_looked_for=st.lists(texts, max_size=2).map(tuple),
    window=st.builds(Window, longer_than=st.none() | _counts, from_ms=times, to_ms=times, model=names),
    hours=st.lists(st.builds(Hour, from_ms=st.integers(-(2**63), 2**63 - 1), requests=_counts, exposed=_counts)).map(
        tuple
    ),
)
"""Whatever values these may hold, in any combination."""
