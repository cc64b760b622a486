"""An audit as JUnit XML: a suite for each node, a test for each rule on it.

Failed: the rule found something. Skipped: it could not tell, or did not see all that it asks of (which may leave the
verdict of the audit clean). Error: kvfence failed. Passed: it looked and found nothing.

Ant's schema wants a time of every test, and an audit is one pass: all targets are read, then every rule is asked of all
nodes at once. What is measured is that run. Each test has an equal share of it, so that a suite's times and a page's
add up to it; `seconds of the whole run` says it once more, as it was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kvfence.findings.deployment import AuditResult, NotChecked
from kvfence.findings.finding import Finding
from kvfence.findings.rule_card import RuleCard
from kvfence.report import junit_xml
from kvfence.report.junit_xml import Case
from kvfence.report.run import Run


def document(result: AuditResult, run: Run) -> str:
    """The whole audit; its texts must be plain."""
    suites = list(_suites(result))
    share_s = run.took_s / max(1, sum(len(cases) for _name, cases in suites))
    timed = [(name, [replace(case, seconds=share_s) for case in cases]) for name, cases in suites]
    return junit_xml.document(timed, run)


def _suites(result: AuditResult) -> Iterator[tuple[str, list[Case]]]:
    names = list(dict.fromkeys([*(node.name for node in result.nodes), *(one.node for one in result.findings)]))
    cards = sorted(result.rules, key=lambda card: card.code)
    placed: set[int] = set()
    for name in names:
        gaps = [gap for gap in result.not_checked if gap.names(name) or gap.broken]
        placed.update(id(gap) for gap in gaps)
        yield name, [_case(card, [one for one in result.findings if one.node == name], gaps) for card in cards]
    elsewhere = [gap for gap in result.not_checked if id(gap) not in placed]
    if elsewhere or not names:
        yield "not inspected", [_unplaced(gap) for gap in elsewhere]


def _case(card: RuleCard, findings: Sequence[Finding], gaps: Sequence[NotChecked]) -> Case:
    name = f"{card.code} {card.id}"
    found = [finding for finding in findings if finding.rule == card.id]
    if found:
        text = "\n\n".join(_told(finding) for finding in found)
        return Case(name, "failure", found[0].severity.value, found[0].message, text)
    stopping = [gap for gap in gaps if card.id in gap.rules or (gap.decisive and not gap.rules)]
    for gap in stopping:
        if gap.broken:
            return Case(name, "error", "failed", f"{gap.what}: {gap.why}")
    if stopping:
        return Case(name, "skipped", message="; ".join(f"could not tell: {gap.why}" for gap in stopping))
    return Case(name, None)


def _unplaced(gap: NotChecked) -> Case:
    return Case(gap.what, "error" if gap.broken else "skipped", "failed", f"could not tell: {gap.why}")


def _told(finding: Finding) -> str:
    places = "\n".join(f"{seen.place}: {seen.text}" for seen in finding.evidence)
    return f"{finding.severity}: {finding.message}\n{places}\nFix: {finding.fix}"
