"""A probe as JUnit XML: a suite for each manner of asking, a test for each length; last, the verdict over everything.

Failed: that length was answered wrongly, or refused though declared. Error: the endpoint failed there. Skipped: it
could not be told, or was not asked. Passed: answered rightly, or past its limit honestly refused. Times are measured,
from the sending of a length's requests to the ends of their answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kvfence.findings.recall import LengthResult, LengthVerdict, ProbeResult
from kvfence.findings.verdict import Verdict
from kvfence.report import junit_xml
from kvfence.report.junit_xml import Case, Outcome, Suite
from kvfence.report.not_covered import not_covered
from kvfence.report.probe_cards import PROBE_RULES
from kvfence.report.probe_findings import sights, standing, told
from kvfence.report.run import Run

OUTCOMES: dict[Verdict, Outcome | None] = {
    Verdict.CLEAN: None,
    Verdict.FOUND: "failure",
    Verdict.UNKNOWN: "skipped",
}


def document(result: ProbeResult, run: Run) -> str:
    """The whole probe; its texts must be plain."""
    return junit_xml.document(list(suites(result)), run)


def suites(result: ProbeResult) -> Iterator[Suite]:
    """Of one probe; its texts must be plain."""
    names: Counter[tuple[str, str]] = Counter()
    by_manner: dict[str, list[Case]] = {}
    for length in result.lengths:
        name = f"{length.tokens:,} tokens: {length.why}"
        names[length.scenario, name] += 1
        count = names[length.scenario, name]
        again = f" ({count})" if count > 1 else ""  # such as seeds that leaked: two tests are not one
        by_manner.setdefault(length.scenario, []).append(_case(name + again, length, result))
    yield from by_manner.items()
    if result.unasked:
        yield (
            "not asked",
            [Case(f"{tokens:,} tokens", "skipped", message=result.reason) for tokens in sorted(set(result.unasked))],
        )
    yield "verdict", [_overall(result)]


def _case(name: str, length: LengthResult, result: ProbeResult) -> Case:
    outcome: Outcome | None = OUTCOMES[standing(length, result)]
    if outcome is None:
        return Case(name, None, seconds=length.seconds)
    if length.verdict is LengthVerdict.ERROR:
        outcome = "error"
    message = told(length)
    fix = f"Fix: {PROBE_RULES[length.verdict].fix}" if outcome == "failure" else ""
    text = "\n".join(filter(None, (message, length.detail, *sights(length), fix)))
    return Case(name, outcome, length.verdict, message, text, length.seconds)


def _overall(result: ProbeResult) -> Case:
    said = f"{result.verdict}: {result.reason}"
    text = "\n".join((said, *not_covered(result)))
    return Case("all lengths together", OUTCOMES[result.outcome], result.verdict, said, text)
