"""Text from outside, made fit for every format: no control characters, no halves of characters, no turned direction.

A terminal obeys escapes, XML 1.0 has no control characters, and UTF-8 has no surrogates. Names come from log lines and
from paths, so all of these occur. JSON alone can carry them, and keeps them.
"""

from __future__ import annotations

from dataclasses import replace

from kvfence.findings.deployment import AuditResult, FactValue, Node, NotChecked
from kvfence.findings.finding import Evidence, Finding

NO_CHARACTER = "\N{REPLACEMENT CHARACTER}"


def plain(text: str) -> str:
    """The text with white space as spaces, and whatever cannot be seen replaced by `U+FFFD`."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " if char.isspace() else NO_CHARACTER for char in text)


def plain_name(name: str) -> str:
    """A name that can be seen: nothing but white space becomes `U+FFFD` too."""
    text = plain(name)
    return text if text.strip() else NO_CHARACTER


def plain_result(result: AuditResult) -> AuditResult:
    """The same audit with every text plain."""
    return replace(
        result,
        nodes=tuple(_node(node) for node in result.nodes),
        findings=tuple(_finding(finding) for finding in result.findings),
        not_checked=tuple(_gap(gap) for gap in result.not_checked),
    )


def _node(node: Node) -> Node:
    return Node(
        name=plain_name(node.name),
        facts={name: _value(value) for name, value in node.facts.items()},
        sources={name: _evidence(seen) for name, seen in node.sources.items()},
    )


def _value(value: FactValue) -> FactValue:
    return plain(value) if isinstance(value, str) else value


def _finding(finding: Finding) -> Finding:
    return replace(
        finding,
        node=plain_name(finding.node),
        message=plain(finding.message),
        evidence=tuple(_evidence(seen) for seen in finding.evidence),
        fix=plain(finding.fix),
    )


def _evidence(seen: Evidence) -> Evidence:
    return Evidence(file=plain(seen.file), line=seen.line, text=plain(seen.text))


def _gap(gap: NotChecked) -> NotChecked:
    return replace(gap, what=plain_name(gap.what), why=plain(gap.why))
