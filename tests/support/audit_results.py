"""Audits of invented nodes, among them those whose every text is meant to break a format."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from kvfence.audit.catalogue import cards
from kvfence.findings.deployment import AuditResult, Node, NotChecked
from kvfence.findings.finding import Confidence, Evidence, Finding, Severity
from kvfence.report.audit_formats import AuditFormat, rendered
from kvfence.report.run import Run

RUN = Run(command="audit", at=datetime(2026, 12, 2, 10, 30, 15, 250, UTC), took_s=1.5)
HOSTILE = (
    "</script><script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "{{ 7 * 7 }}{% raw %}",
    "]]><!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    "\x1b[2J\x1b]0;owned\x07",
    "nul\x00, bell\x07, vertical\x0b, half \ud800, none \ufffe",
    "turned \u202e round\u2028 and over",
    'quote " and back \\ and\nline',
    "[bold red]markup[/bold red]",
    " ",
)
"""Names and texts that a log may hold."""


def audit_of(text: str, *, file: str | None = None, line: int | None = 3) -> AuditResult:
    """One node whose name, facts, finding, evidence and gap are all this text."""
    seen = Evidence(file=text if file is None else file, line=line, text=text)
    finding = Finding(
        rule="pool-below-context",
        severity=Severity.CRITICAL,
        confidence=Confidence.MEDIUM,
        node=text,
        message=text,
        evidence=(seen, replace(seen, line=None)),
        fix=text,
    )
    facts = {"engine": text, "model": text, "role": text, "pool_tokens": 681280, "context_length": 1048576}
    return AuditResult(
        nodes=(Node(text, facts, {"model": seen}),),
        findings=(finding,),
        not_checked=(NotChecked(text, text), NotChecked("elsewhere", text, decisive=False)),
        rules=cards(),
    )


def written(result: AuditResult, form: AuditFormat) -> str:
    """The audit in that format, of a run at a fixed time."""
    return rendered(result, form, RUN)
