"""A probe as findings about one node, its endpoint: the one judgement that all formats for machines share.

A row is a finding only where the whole probe says so: under a control that failed, nothing longer proves anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.findings.deployment import AuditResult, Node, NotChecked
from kvfence.findings.finding import Evidence, Finding
from kvfence.findings.origin import Origin
from kvfence.findings.recall import ForeignMarker, LengthResult, LengthVerdict, ProbeResult, ProbeVerdict
from kvfence.findings.verdict import Verdict
from kvfence.report.finding_rule import FindingRule
from kvfence.report.not_covered import not_covered
from kvfence.report.probe_cards import PROBE_RULES

SIGHTS_MAX = 5
"""One is enough for a verdict; a prompt can have 64. The JSON document has all of them."""
_SHOWN_BY = {ProbeVerdict.LIMIT_OVERSTATED: LengthVerdict.REFUSED}
"""What the verdict over everything is called over a length, where that differs."""


def standing(length: LengthResult, result: ProbeResult) -> Verdict:
    """Of one row: found, clean (which an honest refusal is as well), or unknown."""
    match length.verdict:
        case LengthVerdict.CLEAN:
            return Verdict.CLEAN
        case LengthVerdict.ERROR | LengthVerdict.ELSEWHERE | LengthVerdict.INCONCLUSIVE:
            return Verdict.UNKNOWN
        case LengthVerdict.REFUSED if length.tokens not in result.refused_though_declared:
            return Verdict.CLEAN
        case _:
            return result.outcome


def as_audit(result: ProbeResult) -> AuditResult:
    """The same in the words of an audit; its verdict is the probe's."""
    unknown = [NotChecked(result.url, result.reason)] if result.outcome is Verdict.UNKNOWN else []
    facts = {"model": result.model, "context_length": result.declared_context}
    return AuditResult(
        nodes=(Node(result.url, facts),),
        findings=tuple(_findings(result)),
        not_checked=(*unknown, *(NotChecked(result.url, said, decisive=False) for said in not_covered(result))),
        rules=tuple(rule.card for rule in PROBE_RULES.values()),
    )


def _findings(result: ProbeResult) -> Iterator[Finding]:
    for length in result.lengths:
        if standing(length, result) is Verdict.FOUND:
            rule = PROBE_RULES[length.verdict]
            yield Finding(
                rule=rule.card.id,
                severity=rule.severity,
                confidence=rule.confidence,
                node=result.url,
                message=told(length),
                evidence=(
                    Evidence(file=result.url, line=None, text=f"status {length.status}, {length.detail or length.why}"),
                    *(Evidence(file=result.url, line=None, text=shown) for shown in sights(length)),
                ),
                fix=rule.fix,
            )


def worst_rule(result: ProbeResult) -> FindingRule | None:
    """The finding that the verdict over everything rests on; None where nothing was found."""
    if result.outcome is not Verdict.FOUND:
        return None
    return PROBE_RULES[_SHOWN_BY.get(result.verdict) or LengthVerdict(result.verdict)]


def told(length: LengthResult) -> str:
    """One row as sentences."""
    said = PROBE_RULES[length.verdict].card.title if length.verdict in PROBE_RULES else f"{length.verdict}."
    foreign = f"; {length.foreign} foreign" if length.foreign else ""
    back = f"{length.recalled} of {length.planted} markers came back{foreign}"
    return f"{said} At {length.tokens:,} prompt tokens ({length.scenario}: {length.why}): {back}."


def sights(length: LengthResult, at_most: int = SIGHTS_MAX) -> tuple[str, ...]:
    """Its foreign markers as they may be shown: a few, and how many more there are."""
    shown = tuple(_sight(marker) for marker in length.evidence[:at_most])
    more = len(length.evidence) - at_most
    return (*shown, f"and {more} more") if more > 0 else shown


def _sight(marker: ForeignMarker) -> str:
    place = f", depth {marker.depth}" if marker.depth is not None else ""
    planted = f", planted at {marker.planted_at_tokens:,} prompt tokens" if marker.planted_at_tokens else ""
    origin = f", {said_of_origin(marker.origin)}" if marker.origin else ""
    return f"{marker.shown} of {marker.planted_by}{planted}{place}{origin}"


def said_of_origin(origin: Origin) -> str:
    """Which campaign, when, and where, in words."""
    when = origin.planted_at or "at a time that no registry here has"
    if origin.is_of_application:
        return f"in a call of {origin.endpoint}, {when}"
    return f"by campaign {origin.campaign} ({origin.model} at {origin.endpoint}, seed {origin.seed}) {when}"
