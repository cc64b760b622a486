"""An audit as Prometheus text, for node_exporter's textfile collector or a push gateway.

Names follow prometheus.io/docs/practices/naming: a prefix, the unit last, no figure in a label. A node whose pool is
not known has no sample of it, rather than 0.
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from kvfence.findings.deployment import AuditResult, Node
from kvfence.findings.finding import Severity
from kvfence.findings.verdict import Verdict
from kvfence.report.run import Run

_SIZES = (
    ("kvfence_pool_tokens", "pool_tokens", "What the node's KV pool holds."),
    ("kvfence_context_tokens", "context_length", "The context length that the node promises."),
    ("kvfence_usable_tokens", "usable_length", "The longest prompt that the node takes whole."),
)
_INFO = ("engine", "engine_version", "role", "model", "kv_dtype")


def exposition(result: AuditResult, run: Run) -> str:
    """The whole audit in the text format; its texts must be plain."""
    registry = CollectorRegistry()
    _nodes(result.nodes, registry)
    _findings(result, registry)
    _gauge("kvfence_build_info", "Which kvfence wrote this.", ["version"], registry).labels(run.version).set(1)
    verdict = _gauge("kvfence_verdict", "1 for the verdict of this run, 0 for the others.", ["verdict"], registry)
    for one in Verdict:
        verdict.labels(one.value).set(one is result.verdict)
    at = "When this run ended, in seconds since 1970; a run that no longer happens is seen by it."
    _gauge("kvfence_last_run_timestamp_seconds", at, ["command"], registry).labels(run.command).set(run.at.timestamp())
    return generate_latest(registry).decode()


def _nodes(nodes: Iterable[Node], registry: CollectorRegistry) -> None:
    sizes = [(_gauge(name, told, ["node"], registry), fact) for name, fact, told in _SIZES]
    info = _gauge("kvfence_node_info", "What a node says of itself.", ["node", *_INFO], registry)
    for node in nodes:
        for gauge, fact in sizes:
            value = node.facts.get(fact)
            if isinstance(value, int):
                gauge.labels(node.name).set(value)
        info.labels(node.name, *(_label(node.facts.get(name)) for name in _INFO)).set(1)


def _findings(result: AuditResult, registry: CollectorRegistry) -> None:
    named = ["node", "rule", "code", "severity"]
    each = _gauge("kvfence_finding", "How many findings of a rule there are on a node.", named, registry)
    for finding in result.findings:
        each.labels(finding.node, finding.rule, result.code_of(finding) or "", finding.severity.value).inc()
    counted = _gauge("kvfence_findings", "How many findings there are of a severity.", ["severity"], registry)
    for severity in Severity:
        counted.labels(severity.value).set(sum(one.severity is severity for one in result.findings))
    gaps = _gauge("kvfence_not_checked", "How much could not be inspected.", ["decisive"], registry)
    for decisive in (True, False):
        gaps.labels(str(decisive).lower()).set(sum(gap.decisive is decisive for gap in result.not_checked))


def _gauge(name: str, told: str, labels: list[str], registry: CollectorRegistry) -> Gauge:
    return Gauge(name, told, labels, registry=registry)


def _label(value: object) -> str:
    return "" if value is None else str(value)
