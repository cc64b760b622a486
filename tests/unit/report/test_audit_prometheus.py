"""An audit as Prometheus text, read back by Prometheus' own parser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from kvfence.audit import inspect
from kvfence.findings.deployment import AuditResult
from kvfence.report.audit_formats import AuditFormat
from kvfence.report.plain import plain_name
from support.audit_logs import INCIDENT, audited
from support.audit_results import HOSTILE, RUN, audit_of, written

Samples = dict[str, list[tuple[dict[str, str], float]]]


def _samples(result: AuditResult) -> Samples:
    families = text_string_to_metric_families(written(result, AuditFormat.PROMETHEUS))
    return {family.name: [(sample.labels, sample.value) for sample in family.samples] for family in families}


def test_sizes_and_findings_of_the_incident_are_read_back():
    """Every node's sizes, and every finding with its names."""
    result = inspect(sorted(INCIDENT.glob("*.log")))
    samples = _samples(result)
    pools = {labels["node"]: value for labels, value in samples["kvfence_pool_tokens"]}
    assert pools == {node.name: node.facts["pool_tokens"] for node in result.nodes}
    assert sum(value for _labels, value in samples["kvfence_finding"]) == len(result.findings)
    assert {(labels["rule"], labels["code"]) for labels, _ in samples["kvfence_finding"]} == {
        (finding.rule, result.code_of(finding)) for finding in result.findings
    }
    assert ({"verdict": "found"}, 1.0) in samples["kvfence_verdict"]
    assert sum(value for _labels, value in samples["kvfence_verdict"]) == 1
    ((_, at),) = samples["kvfence_last_run_timestamp_seconds"]
    assert at == RUN.at.timestamp()


def test_what_is_not_known_has_no_sample(tmp_path: Path):
    """A context that no log told is absent, never 0; what could not be inspected is counted."""
    samples = _samples(audited(tmp_path, "INFO [kv_cache_utils.py:1] GPU KV cache size: 900 tokens"))
    assert samples["kvfence_pool_tokens"] == [({"node": "node0"}, 900.0)]
    assert samples["kvfence_context_tokens"] == []
    assert ({"decisive": "true"}, 1.0) in samples["kvfence_not_checked"]


def test_names_are_as_prometheus_wants_them():
    """Our prefix, lower case with underscores, no type in the name, and a help text for each."""
    for family in text_string_to_metric_families(written(audit_of("a"), AuditFormat.PROMETHEUS)):
        assert re.fullmatch(r"kvfence_[a-z]+(_[a-z]+)*", family.name)
        assert not family.name.endswith(("_gauge", "_total", "_count"))
        assert family.documentation.endswith(".")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_read_back(text: str):
    """A label's value survives the trip, but for what no text can carry."""
    ((labels, _),) = _samples(audit_of(text))["kvfence_pool_tokens"]
    assert labels["node"] == plain_name(text)


@given(st.text(min_size=1))
def test_any_name_is_read_back(text: str):
    """The same for whatever Hypothesis thinks of."""
    ((labels, _),) = _samples(audit_of(text))["kvfence_pool_tokens"]
    assert labels["node"] == plain_name(text)
