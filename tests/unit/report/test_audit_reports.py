"""An audit as JSON and as a table."""

from __future__ import annotations

import json

import pytest
from jsonschema import validate

from kvfence.audit import inspect
from kvfence.report.audit_json import document
from kvfence.report.audit_terminal import as_text
from kvfence.report.worst_first import nodes_worst_first
from support.audit_logs import INCIDENT, LOGS
from support.audit_results import HOSTILE, audit_of

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
        assert f"{RESULT.code_of(finding)} {finding.rule} {finding.node}" in page
        assert " ".join(finding.fix.split())[:60] in page
    for gap in RESULT.not_checked:
        assert gap.what in page


def test_the_table_has_the_worst_nodes_first():
    """Critical nodes stand before those with lesser findings, those with gaps before those without."""
    page = as_text(RESULT)
    rows = [page.index(f"\n {node.name} ") for node in nodes_worst_first(RESULT)]
    assert rows == sorted(rows)
    shown = [line.split()[1] for line in page.split("\n\n CRITICAL")[0].splitlines()[3:] if line.split()]
    ranks = ["critical", "high", "medium", "low", "info", "not", "-"]
    assert [rank for rank in ranks if rank in shown] == list(dict.fromkeys(shown))


@pytest.mark.parametrize("text", HOSTILE)
def test_no_escape_of_a_log_reaches_the_terminal(text: str):
    """What is printed is printable, and markup of the table's own library is text."""
    page = as_text(audit_of(text))
    assert all(line.isprintable() for line in page.split("\n"))
    if "[bold red]" in text:
        assert "[bold red]markup[/bold red]" in page
