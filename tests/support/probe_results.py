"""Probes of invented endpoints, among them those whose every text is meant to break a format."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from kvfence.findings.depth_recall import NO_ANSWER, DepthRecall
from kvfence.findings.leak_rate import LeakRate
from kvfence.findings.recall import ForeignMarker, LengthResult, LengthVerdict, ProbeResult, ProbeVerdict
from kvfence.findings.spent import Spent
from kvfence.report.probe_formats import ProbeFormat, rendered
from kvfence.report.run import Run

RUN = Run(command="probe", at=datetime(2026, 12, 2, 10, 30, 15, 250, UTC), took_s=12.5, again="kvfence probe URL")
DEPTHS = 5
OVERALL = {
    LengthVerdict.REFUSED: ProbeVerdict.LIMIT_OVERSTATED,
    LengthVerdict.ERROR: ProbeVerdict.INCONCLUSIVE,
    LengthVerdict.ELSEWHERE: ProbeVerdict.INCONCLUSIVE,
}
"""Where a verdict over a length has another name over everything."""


def row_of(verdict: LengthVerdict, tokens: int = 4096, **changes: object) -> LengthResult:
    """One answer at one length."""
    status = {LengthVerdict.REFUSED: 400, LengthVerdict.ERROR: 500}.get(verdict, 200)
    recalled = DEPTHS * (verdict is LengthVerdict.CLEAN)
    leak = verdict is LengthVerdict.LEAK
    mark = ForeignMarker(planted_by="tenant-a", planted_at_tokens=4096, depth=2, shown="KXEH… (25 more)")
    row = LengthResult(
        tokens=tokens,
        why="asked for",
        status=status,
        verdict=verdict,
        recalled=recalled,
        planted=DEPTHS,
        foreign=int(leak),
        evidence=(mark,) * leak,
        by_depth=DepthRecall((int(bool(recalled)),) * DEPTHS, 1) if status == 200 else NO_ANSWER,
        seconds=1.5,
        leak_rate=LeakRate(seen=int(leak), trials=1),
    )
    return replace(row, **changes)  # type: ignore[arg-type]  # a test names fields that exist


def probe_of(*rows: LengthResult, verdict: ProbeVerdict | None = None, **changes: object) -> ProbeResult:
    """A probe with these rows after a clean control; its verdict is the last row's if none is given."""
    last = rows[-1].verdict if rows else LengthVerdict.CLEAN
    result = ProbeResult(
        url="http://endpoint.example/v1",
        model="copier",
        declared_context=8192,
        token_count_by="the endpoint's /tokenize, exact",
        tenants_told_apart_by=("user",),
        lengths=(row_of(LengthVerdict.CLEAN, 768), *rows),
        verdict=verdict or OVERALL.get(last) or ProbeVerdict(last),
        reason="because of the last row",
        requests=10,
        seed=7,
        leak_rate=LeakRate(seen=int(last is LengthVerdict.LEAK), trials=8),
        spent=Spent(requests=11, prompt_tokens=38457, answer_tokens=1431, usd=0.25),
        refused_though_declared=tuple(row.tokens for row in rows if row.verdict is LengthVerdict.REFUSED),
        seconds=12.0,
    )
    return replace(result, **changes)  # type: ignore[arg-type]  # a test names fields that exist


def hostile_probe(text: str) -> ProbeResult:
    """A leak whose endpoint, model, messages and markers are all this text."""
    mark = ForeignMarker(planted_by=text, planted_at_tokens=None, depth=None, shown=text)
    rows = [
        row_of(verdict, 1000 + at, why=text, detail=text, evidence=(mark,)) for at, verdict in enumerate(LengthVerdict)
    ]
    told = {"url": text, "model": text, "reason": text, "token_count_by": text, "unasked": (5, 6)}
    return probe_of(*rows, verdict=ProbeVerdict.LEAK, **told)


def written(result: ProbeResult, form: ProbeFormat, run: Run = RUN) -> str:
    """The probe in that format, of a run at a fixed time."""
    return rendered(result, form, run)
