"""An audit as SARIF 2.1.0, for code scanning. Source of the format: docs.oasis-open.org/sarif/sarif/v2.1.0.

A rule is named by its code. Where something was read is a physical location: file and line, or a URL; the node is a
logical one. What was not inspected is a notification of the run, since silence would read as "clean".
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from kvfence.findings.deployment import AuditResult, NotChecked
from kvfence.findings.finding import Evidence, Finding, Severity
from kvfence.findings.level import level_of
from kvfence.findings.rule_card import RuleCard
from kvfence.report.run import Run

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "kvfenceFinding/v1"
"""Made of rule and node alone: lines and figures move from run to run, and it is still the same finding."""
_SECURITY_SEVERITY = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.5",
    Severity.LOW: "3.0",
    Severity.INFO: "0.0",
}
"""In the middle of each band by which GitHub ranks: over 9.0 critical, 7.0 high, 4.0 medium, the rest low."""


def document(result: AuditResult, run: Run) -> dict[str, Any]:
    """The whole audit, ready for `json.dumps`; its texts must be plain."""
    cards = sorted(result.rules, key=lambda card: card.code)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver(cards, result.findings, run)},
                "automationDetails": {"id": f"kvfence/{run.command}/"},
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(result.not_checked, run)],
                "results": list(_results(result.findings, cards)),
                "properties": {"verdict": result.verdict.value},
            }
        ],
    }


def _driver(cards: Sequence[RuleCard], findings: Sequence[Finding], run: Run) -> dict[str, Any]:
    return {
        "name": "kvfence",
        "version": run.version,
        "semanticVersion": run.version,
        "rules": [_rule(card, [one.severity for one in findings if one.rule == card.id]) for card in cards],
    }


def _rule(card: RuleCard, found: Sequence[Severity]) -> dict[str, Any]:
    """GitHub ranks by rule, so a rule carries the worst severity that it found in this run."""
    worst = min(found, key=tuple(Severity).index, default=None)
    ranked = {"security-severity": _SECURITY_SEVERITY[worst]} if worst else {}
    return {
        "id": card.code,
        "name": card.id,
        "shortDescription": {"text": card.title},
        "fullDescription": {"text": card.title},
        "help": {"text": card.page, "markdown": card.page},
        "properties": {"tags": ["security", "kv-cache"], **ranked},
    }


def _invocation(gaps: Sequence[NotChecked], run: Run) -> dict[str, Any]:
    return {
        "executionSuccessful": not any(gap.broken for gap in gaps),
        "endTimeUtc": run.at_utc.isoformat().replace("+00:00", "Z"),
        "toolExecutionNotifications": [
            {
                "level": "error" if gap.broken else "warning" if gap.decisive else "note",
                "message": {"text": f"Not inspected: {gap.what}: {gap.why}"},
            }
            for gap in gaps
        ],
    }


def _results(findings: Sequence[Finding], cards: Sequence[RuleCard]) -> Iterator[dict[str, Any]]:
    index_by_id = {card.id: index for index, card in enumerate(cards)}
    seen: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        index = index_by_id.get(finding.rule)
        name = finding.rule if index is None else cards[index].code
        same = seen[name, finding.node]
        seen[name, finding.node] += 1
        related = [{"id": number, **_location(place)} for number, place in enumerate(finding.evidence[1:], 1)]
        yield {
            "ruleId": name,
            **({} if index is None else {"ruleIndex": index}),
            "level": level_of(finding.severity).value,
            "message": {"text": f"{finding.node}: {finding.message} Fix: {finding.fix}"},
            "locations": [
                {**_location(finding.evidence[0]), "logicalLocations": [{"name": finding.node, "kind": "resource"}]}
            ],
            **({"relatedLocations": related} if related else {}),
            "partialFingerprints": {FINGERPRINT: _fingerprint(name, finding.node, same)},
            "properties": {
                "rule": finding.rule,
                "severity": finding.severity.value,
                "confidence": finding.confidence.value,
                "node": finding.node,
                "fix": finding.fix,
            },
        }


def _location(place: Evidence) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.file)}}
    if place.line is not None:
        physical["region"] = {"startLine": place.line, "snippet": {"text": place.text}}
    return {"physicalLocation": physical, "message": {"text": place.text or place.place}}


def _uri(file: str) -> str:
    """A URL as it is, a path as a URI; a relative one stays relative, so that it is found in a repository."""
    if "://" in file:
        return quote(file, safe=":/?#[]@!$&'()*+,;=%~")
    if file == "-":
        return "stdin"
    path = quote(file.removeprefix("./"))
    return f"file://{path}" if path.startswith("/") else path


def _fingerprint(rule: str, node: str, same: int) -> str:
    """Of the rule, the node, and which one it is of several findings of that rule on that node."""
    return hashlib.sha256("\0".join((rule, node, str(same))).encode()).hexdigest()
