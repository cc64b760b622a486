"""The rules on who can reach a worker and on settings that differ, and the older rules on launch files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.audit import inspect
from kvfence.findings.deployment import AuditResult
from kvfence.findings.finding import Confidence, Finding, Severity
from kvfence.findings.verdict import Verdict
from support.launch_corpus import LAUNCH

SERVER = "python3 -m sglang.launch_server --model-path /m --port 30000"
MANIFEST = """\
kind: Deployment
apiVersion: apps/v1
metadata: {{name: d}}
spec:
  template:
    metadata: {{labels: {{app: d}}}}
    spec:
      containers:
      - name: s
        command: [sh, -c]
        args: ["{command}"]
---
kind: Service
apiVersion: v1
metadata: {{name: svc}}
spec: {{type: {type}, selector: {{app: d}}, ports: [{{port: {port}}}]}}
---
kind: Ingress
apiVersion: networking.k8s.io/v1
metadata: {{name: in}}
spec: {{rules: [{{http: {{paths: [{{backend: {{service: {{name: {to}}}}}}}]}}}}]}}
"""


def _audited(folder: Path, text: str, name: str = "run.sh") -> AuditResult:
    (folder / name).write_text(text, "utf-8")
    return inspect([folder / name])


def _manifest(command: str, *, kind: str = "ClusterIP", port: int = 30000, to: str = "elsewhere") -> str:
    return MANIFEST.format(command=command, type=kind, port=port, to=to)


def _of(result: AuditResult, rule: str) -> list[Finding]:
    return [finding for finding in result.findings if finding.rule == rule]


DECODE, PREFILL = (
    f"{SERVER} --host 0.0.0.0 --disaggregation-mode decode",
    f"{SERVER} --host 0.0.0.0 --disaggregation-mode prefill",
)


@pytest.mark.parametrize(
    ("text", "name", "severity", "confidence"),
    [
        (_manifest(DECODE, kind="LoadBalancer"), "m.yaml", Severity.CRITICAL, Confidence.HIGH),
        (_manifest(DECODE, kind="NodePort"), "m.yaml", Severity.CRITICAL, Confidence.HIGH),
        (_manifest(DECODE, to="svc"), "m.yaml", Severity.CRITICAL, Confidence.HIGH),
        (_manifest(f"{DECODE} --api-key k", kind="NodePort"), "m.yaml", Severity.HIGH, Confidence.HIGH),
        (_manifest(PREFILL, kind="LoadBalancer", port=8998), "m.yaml", Severity.HIGH, Confidence.HIGH),
        (
            f"services:\n  d:\n    network_mode: host\n    command: {DECODE}\n",
            "c.yaml",
            Severity.CRITICAL,
            Confidence.MEDIUM,
        ),
        (f"docker run -p 30000:30000 image {DECODE}\n", "run.sh", Severity.CRITICAL, Confidence.HIGH),
        (f"{DECODE}\n", "run.sh", Severity.CRITICAL, Confidence.LOW),
        (
            'vllm serve m --kv-transfer-config \'{"kv_role": "kv_consumer"}\'\n',
            "run.sh",
            Severity.CRITICAL,
            Confidence.LOW,
        ),
    ],
)
def test_an_open_worker_is_found(tmp_path: Path, text: str, name: str, severity: Severity, confidence: Confidence):
    """How bad is told by the role and the key, how sure by the way that leads to it."""
    (finding,) = _of(_audited(tmp_path, text, name), "worker-reachable")
    assert (finding.severity, finding.confidence) == (severity, confidence)
    assert finding.evidence[0].line


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (_manifest(DECODE), "m.yaml"),
        (_manifest(DECODE, kind="LoadBalancer", port=9090), "m.yaml"),
        (_manifest(DECODE, kind="LoadBalancer", port=8998), "m.yaml"),
        (_manifest(f"{SERVER} --host 127.0.0.1 --disaggregation-mode decode", kind="NodePort"), "m.yaml"),
        (_manifest(f"{SERVER} --host 0.0.0.0", kind="LoadBalancer"), "m.yaml"),
        (f"{SERVER} --disaggregation-mode decode\n", "run.sh"),
        (f"docker run -p 127.0.0.1:30000:30000 image {DECODE}\n", "run.sh"),
    ],
)
def test_a_worker_that_only_its_router_reaches_is_not_found(tmp_path: Path, text: str, name: str):
    """Inside the cluster, on another port, on the machine's own address, one server for both."""
    assert _of(_audited(tmp_path, text, name), "worker-reachable") == []


def test_a_gateway_without_a_router_hands_fields_on(tmp_path: Path):
    """An ingress to decode is found, one to a single server is not, and a load balancer is no gateway."""
    (finding,) = _of(_audited(tmp_path, _manifest(DECODE, to="svc"), "m.yaml"), "client-set-transfer-fields")
    assert finding.severity is Severity.CRITICAL
    assert "bootstrap_room" in finding.message
    for text in (_manifest(f"{SERVER} --host 0.0.0.0", to="svc"), _manifest(DECODE, kind="LoadBalancer")):
        assert _of(_audited(tmp_path, text, "n.yaml"), "client-set-transfer-fields") == []


def test_what_a_router_removes_is_asked_not_guessed(tmp_path: Path):
    """A router in front gives no finding and a gap that says how to test it."""
    result = _audited(tmp_path, "python -m sglang_router.launch_router --pd-disaggregation\n")
    assert result.findings == ()
    assert any("bootstrap_host" in gap.why and "test" in gap.why for gap in result.not_checked)


@pytest.mark.parametrize(
    ("prefill", "decode", "severity"),
    [
        ("--mem-fraction-static 0.8", "--mem-fraction-static 0.9", Severity.MEDIUM),
        ("--disaggregation-enable-kv-checksum", "", Severity.MEDIUM),
        ("--page-size 16 --tp 4", "--page-size 64 --tp 4", Severity.MEDIUM),
        ("--tp 4", "", Severity.LOW),
        ("--mem-fraction-static 0.8", "--mem-fraction-static 0.80", None),
        ("--page-size 16", "", None),
        ("--context-length 100", "--context-length 100", None),
        ("--model m2 --tp 4", "--tp 8", None),
    ],
)
def test_settings_that_differ_are_found(tmp_path: Path, prefill: str, decode: str, severity: Severity | None):
    """What both say and differs; not what one leaves open, nor what is written otherwise, nor another model's."""
    result = _audited(tmp_path, f"{PREFILL} {prefill} &\n{DECODE} {decode} &\n")
    found = _of(result, "unequal-settings")
    assert [finding.severity for finding in found] == ([severity] if severity else [])
    assert all({seen.line for seen in finding.evidence} == {1, 2} for finding in found)


def test_older_rules_work_on_launch_files(tmp_path: Path):
    """Checks off and truncation are found from commands; a checksum on ends the first."""
    result = _audited(tmp_path, f"{PREFILL} --allow-auto-truncate &\n{DECODE} --disaggregation-enable-kv-checksum &\n")
    assert [finding.node for finding in _of(result, "checks-off")] == ["run:1"]
    assert [finding.node for finding in _of(result, "auto-truncate-on")] == ["run:1"]


def test_a_command_is_never_clean(tmp_path: Path):
    """A pool is in no command, so the verdict is inconclusive and says how to get it."""
    result = _audited(tmp_path, f"{SERVER} --context-length 100 --max-total-tokens 100\n")
    assert result.verdict is Verdict.UNKNOWN
    assert any("/server_info" in gap.why for gap in result.not_checked)


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_no_rule_fails_on_the_corpus(path: Path):
    """Every rule says something or nothing of every launch file; none breaks."""
    assert not [gap for gap in inspect([path]).not_checked if gap.what.startswith("rule ")]
