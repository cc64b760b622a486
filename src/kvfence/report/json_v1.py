"""Machine-readable documents, version 1. Keys may be added; none changes its meaning without a new version."""

from __future__ import annotations

import json

from kvfence.findings.deployment import AuditResult
from kvfence.findings.recall import ProbeResult

SCHEMA = 1

Document = dict[str, object]


def audit_document(result: AuditResult) -> Document:
    """What `kvfence audit --format json` writes. A fact that is not known is null."""
    return {
        "schema": SCHEMA,
        "verdict": result.verdict,
        "nodes": [{"node": node.name, "facts": dict(node.facts)} for node in result.nodes],
        "findings": [
            {
                "rule": finding.rule,
                "severity": finding.severity,
                "confidence": finding.confidence,
                "node": finding.node,
                "message": finding.message,
                "evidence": [
                    {"file": place.file, "line": place.line, "text": place.text} for place in finding.evidence
                ],
                "fix": finding.fix,
            }
            for finding in result.findings
        ],
        "not_checked": [{"what": gap.what, "why": gap.why} for gap in result.not_checked],
    }


def probe_document(result: ProbeResult) -> Document:
    """What `kvfence probe --format json` writes."""
    return {
        "schema": SCHEMA,
        "verdict": result.verdict,
        "reason": result.reason,
        "url": result.url,
        "model": result.model,
        "declared_context": result.declared_context,
        "token_count_by": result.token_count_by,
        "requests": result.requests,
        "seed": result.seed,
        "lengths": [
            {
                "tokens": length.tokens,
                "why": length.why,
                "status": length.status,
                "verdict": length.verdict,
                "recalled": length.recalled,
                "planted": length.planted,
                "foreign": length.foreign,
                "detail": length.detail,
                "evidence": [
                    {
                        "planted_by": marker.planted_by,
                        "planted_at_tokens": marker.planted_at_tokens,
                        "depth": marker.depth,
                        "shown": marker.shown,
                    }
                    for marker in length.evidence
                ],
            }
            for length in result.lengths
        ],
    }


def rendered(document: Document) -> str:
    """A document as text, ending in a newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
