"""An audit's verdict in words, for every format that a person reads: how much was asked, and no more than that."""

from __future__ import annotations

from collections import Counter

from kvfence.findings.deployment import AuditResult
from kvfence.findings.finding import Severity
from kvfence.report.plain import plain_name


def by_severity(result: AuditResult) -> str:
    """How many findings there are of each severity, worst first: `2 critical, 1 low`."""
    counts = Counter(finding.severity for finding in result.findings)
    return ", ".join(f"{counts[severity]} {severity}" for severity in Severity if counts[severity])


def clean_words(result: AuditResult) -> str:
    """The verdict of an audit that found nothing and saw all that decides.

    A gate compares; it does not judge. Who reads "clean" under a deployment that was wrong when it was recorded must be
    told so.
    """
    file = plain_name(result.baseline) if result.baseline else None
    if not result.rules:
        into = f" in {file}" if file else ""
        return f"Recorded as it is{into}, and judged by no rule: whether it is right, kvfence audit says."
    if file:
        return (
            f"Nothing moved the wrong way since {file} was written. Whether it was right then, the gate does not ask: "
            "kvfence audit says."
        )
    return "Clean: every rule was asked of every node, and none found anything."
