"""An audit as JSON and as a table."""

from __future__ import annotations

import json

from jsonschema import validate

from kvfence.audit import inspect
from kvfence.report.audit_json import document
from kvfence.report.audit_terminal import as_text
from support.audit_logs import INCIDENT, LOGS

EVIDENCE = {
    "type": "object",
    "required": ["file", "line", "text"],
    "properties": {"file": {"type": "string"}, "line": {"type": "integer", "minimum": 1}, "text": {"type": "string"}},
}
NAMED = ["engine", "engine_version", "role", "pool_tokens", "context_length", "page_size", "kv_dtype", "tp_size"]
SCHEMA = {
    "type": "object",
    "required": ["schema", "nodes", "findings", "verdict", "not_checked"],
    "properties": {
        "schema": {"const": 1},
        "verdict": {"enum": ["clean", "found", "unknown"]},
        "nodes": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["node", "facts"],
                "properties": {"facts": {"type": "object", "required": NAMED}},
            },
        },
        "findings": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["rule", "severity", "node", "message", "evidence", "fix"],
                "properties": {"evidence": {"type": "array", "minItems": 1, "items": EVIDENCE}},
            },
        },
    },
}
RESULT = inspect([*LOGS, *sorted(INCIDENT.glob("*.log"))])


def test_the_document_keeps_its_promise():
    """Everything that the corpus gives is valid by schema 1, and survives a trip through JSON."""
    made = document(RESULT)
    validate(made, SCHEMA)
    assert json.loads(json.dumps(made)) == made


def test_unknown_facts_are_null():
    """A fact that no line said is null in JSON."""
    (node,) = (node for node in document(RESULT)["nodes"] if node["node"] == "sglang-headline")
    assert node["facts"]["role"] is None
    assert node["facts"]["pool_tokens"] == 2086558


def test_the_table_names_every_node_finding_and_gap():
    """The table holds each node, each rule that found something with its fix, and each gap."""
    page = " ".join(as_text(RESULT).split())
    for node in RESULT.nodes:
        assert node.name in page
    for finding in RESULT.findings:
        assert f"{finding.rule} {finding.node}" in page
        assert " ".join(finding.fix.split())[:60] in page
    for gap in RESULT.not_checked:
        assert gap.what in page
