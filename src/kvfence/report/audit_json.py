"""An audit as JSON, schema 1. Keys are added, never changed; unknown facts are null."""

from __future__ import annotations

from typing import Any

from kvfence.findings.deployment import AuditResult, Node
from kvfence.findings.finding import Evidence, Finding
from kvfence.findings.source_tree import SourceTree

SCHEMA = 1


def document(result: AuditResult) -> dict[str, Any]:
    """The whole audit, ready for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "verdict": result.verdict.value,
        "nodes": [_node(node) for node in result.nodes],
        "findings": [_finding(finding, result.code_of(finding)) for finding in result.findings],
        "not_checked": [{"what": gap.what, "why": gap.why, "decisive": gap.decisive} for gap in result.not_checked],
        "trees": [_tree(tree) for tree in result.trees],
    }


def _node(node: Node) -> dict[str, Any]:
    return {
        "node": node.name,
        "facts": dict(node.facts),
        "sources": {name: _evidence(seen) for name, seen in node.sources.items()},
    }


def _finding(finding: Finding, code: str | None) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "code": code,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "node": finding.node,
        "message": finding.message,
        "evidence": [_evidence(seen) for seen in finding.evidence],
        "fix": finding.fix,
    }


def _tree(tree: SourceTree) -> dict[str, Any]:
    return {
        "tree": tree.name,
        "engine": tree.engine,
        "version_said": tree.version_said,
        "fixes": [
            {
                "fix": verdict.fix,
                "verdict": verdict.presence.value,
                "reason": verdict.reason,
                "evidence": None if verdict.seen is None else _evidence(verdict.seen),
            }
            for verdict in tree.verdicts
        ],
    }


def _evidence(seen: Evidence) -> dict[str, Any]:
    return {"file": seen.file, "line": seen.line, "text": seen.text}
