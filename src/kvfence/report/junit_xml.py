"""JUnit XML: suites of cases, valid by the schemas of Apache Ant's reports and of Jenkins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from kvfence.report.run import Run

Outcome = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Case:
    """One test; its texts must be plain."""

    name: str
    outcome: Outcome | None
    """None: passed."""
    kind: str = ""
    message: str = ""
    text: str = ""
    seconds: float = 0.0


Suite = tuple[str, Sequence[Case]]
"""With its name."""


def document(suites: Sequence[Suite], run: Run) -> str:
    """The whole file."""
    root = ET.Element("testsuites")  # without attributes: one of the two schemas knows none here
    for number, (name, cases) in enumerate(suites):
        suite = _suite(name, cases, number, run)
        suite.extend(_case_element(name, case) for case in cases)
        suite.extend(ET.Element(output) for output in ("system-out", "system-err"))
        root.append(suite)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(name: str, cases: Sequence[Case], number: int, run: Run) -> ET.Element:
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
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="kvfence version", value=run.version)
    ET.SubElement(properties, "property", name="seconds of the whole run", value=f"{run.took_s:.3f}")
    return suite


def _case_element(suite: str, case: Case) -> ET.Element:
    element = ET.Element("testcase", name=case.name, classname=suite, time=f"{case.seconds:.6f}")
    match case.outcome:
        case None:
            pass
        case "skipped":
            ET.SubElement(element, "skipped", message=case.message)
        case "failure" | "error":
            told = ET.SubElement(element, case.outcome, message=case.message, type=case.kind)
            told.text = case.text or case.message
    return element
