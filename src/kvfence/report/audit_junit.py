"""An audit as JUnit XML: a suite for each node, a test for each rule on it.

Failed: the rule found something. Skipped: it could not tell. Error: kvfence failed. Passed: it looked and found
nothing. Valid by the schemas of Apache Ant's reports and of Jenkins.

Ant's schema wants a time of every test, and an audit is one pass: all targets are read, then every rule is asked of all
nodes at once. What is measured is that run. Each test has an equal share of it, so that a suite's times and a page's
add up to it; `seconds of the whole run` says it once more, as it was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from kvfence.findings.deployment import AuditResult, NotChecked
from kvfence.findings.finding import Finding
from kvfence.findings.rule_card import RuleCard
from kvfence.report.run import Run

Outcome = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    outcome: Outcome | None
    """None: passed."""
    kind: str = ""
    message: str = ""
    text: str = ""


def document(result: AuditResult, run: Run) -> str:
    """The whole audit; its texts must be plain."""
    root = ET.Element("testsuites")  # without attributes: one of the two schemas knows none here
    suites = list(_suites(result))
    share_s = run.took_s / max(1, sum(len(cases) for _name, cases in suites))
    for number, (name, cases) in enumerate(suites):
        suite = _suite(name, cases, number, run)
        suite.set("time", f"{share_s * len(cases):.3f}")
        suite.extend(_case_element(name, case, share_s) for case in cases)
        suite.extend(ET.Element(output) for output in ("system-out", "system-err"))
        root.append(suite)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suites(result: AuditResult) -> Iterator[tuple[str, list[_Case]]]:
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


def _case(card: RuleCard, findings: Sequence[Finding], gaps: Sequence[NotChecked]) -> _Case:
    name = f"{card.code} {card.id}"
    found = [finding for finding in findings if finding.rule == card.id]
    if found:
        text = "\n\n".join(_told(finding) for finding in found)
        return _Case(name, "failure", found[0].severity.value, found[0].message, text)
    stopping = [gap for gap in gaps if gap.decisive and (not gap.rules or card.id in gap.rules)]
    for gap in stopping:
        if gap.broken:
            return _Case(name, "error", "failed", f"{gap.what}: {gap.why}")
    if stopping:
        return _Case(name, "skipped", message="; ".join(f"could not tell: {gap.why}" for gap in stopping))
    return _Case(name, None)


def _unplaced(gap: NotChecked) -> _Case:
    return _Case(gap.what, "error" if gap.broken else "skipped", "failed", f"could not tell: {gap.why}")


def _told(finding: Finding) -> str:
    places = "\n".join(f"{seen.place}: {seen.text}" for seen in finding.evidence)
    return f"{finding.severity}: {finding.message}\n{places}\nFix: {finding.fix}"


def _suite(name: str, cases: Sequence[_Case], number: int, run: Run) -> ET.Element:
    def count(outcome: Outcome) -> str:
        return str(sum(case.outcome == outcome for case in cases))

    suite = ET.Element(
        "testsuite",
        name=name,
        package=f"kvfence.{run.command}",
        id=str(number),
        timestamp=run.at_utc.replace(tzinfo=None).isoformat(),
        hostname="localhost",
        tests=str(len(cases)),
        failures=count("failure"),
        errors=count("error"),
        skipped=count("skipped"),
    )
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="kvfence version", value=run.version)
    ET.SubElement(properties, "property", name="seconds of the whole run", value=f"{run.took_s:.3f}")
    return suite


def _case_element(node: str, case: _Case, share_s: float) -> ET.Element:
    element = ET.Element("testcase", name=case.name, classname=node, time=f"{share_s:.6f}")
    match case.outcome:
        case None:
            pass
        case "skipped":
            ET.SubElement(element, "skipped", message=case.message)
        case "failure" | "error":
            told = ET.SubElement(element, case.outcome, message=case.message, type=case.kind)
            told.text = case.text or case.message
    return element
