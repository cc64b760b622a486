"""A launch file audited together with the log of what it started."""

from __future__ import annotations

from pathlib import Path

from kvfence.audit import inspect
from kvfence.findings.finding import Severity
from support.audit_logs import INCIDENT

PREFILL_LOG = INCIDENT / "sglang-0.5.19-prefill.log"
COMMAND = (
    "python3 -m sglang.launch_server --model-path /models/echo-2l --disaggregation-mode prefill --page-size 1 "
    "--port {port} --disaggregation-bootstrap-port 31998 --context-length {context} --kv-canary {canary}\n"
)
AS_IT_RAN = COMMAND.format(port=31001, context=512, canary="none")
POD = "prefill-7d9f8b6c5d-x2k4q"
MANIFEST = """\
kind: Deployment
apiVersion: apps/v1
metadata: {{name: {name}}}
spec:
  template:
    spec:
      containers:
      - name: server
        command: [sh, -c]
        args: ["{command}"]
"""


def _written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_command_that_is_what_ran_adds_no_node_and_no_finding(tmp_path: Path):
    """The incident's own log with its own command: one node, and nothing disagrees."""
    result = inspect([_written(tmp_path, "run.sh", AS_IT_RAN), PREFILL_LOG])
    alone = inspect([PREFILL_LOG])
    assert [node.name for node in result.nodes] == [node.name for node in alone.nodes]
    assert [(one.rule, one.node) for one in result.findings] == [(one.rule, one.node) for one in alone.findings]


def test_what_the_command_asks_for_and_the_log_does_not_show_is_found(tmp_path: Path):
    """A context and a check that stand in the script and not in the server: one finding with both places of each."""
    script = _written(tmp_path, "run.sh", COMMAND.format(port=31001, context=1048576, canary="raise"))
    result = inspect([script, PREFILL_LOG])
    (found,) = [one for one in result.findings if one.rule == "sources-disagree"]
    assert found.severity is Severity.MEDIUM
    assert found.message.startswith("The log and the launch command of this node disagree: checks is none, and ")
    assert f"context_length is 512, and 1,048,576 by {script}:1" in found.message
    assert f"kv_canary is none, and raise by {script}:1" in found.message
    assert {seen.file for seen in found.evidence} == {str(script), str(PREFILL_LOG)}
    assert result.nodes[0].facts["context_length"] == 512


def test_a_script_of_two_replicas_and_one_log_stay_apart(tmp_path: Path):
    """The same flags twice: which of them ran is not known, and the report says so of each."""
    result = inspect([_written(tmp_path, "run.sh", f"{AS_IT_RAN.strip()} &\n{AS_IT_RAN}"), PREFILL_LOG])
    assert [node.name for node in result.nodes] == ["run:1", "run:2", PREFILL_LOG.stem]
    notes = [(one.what, one.why) for one in result.not_checked if "nothing decides it" in one.why]
    assert [name for name, _why in notes] == ["run:1", "run:2"]
    assert all(f"what started {PREFILL_LOG.stem}" in why for _name, why in notes)


def test_a_pod_is_its_deployments_whatever_other_pod_stands_in_the_log(tmp_path: Path):
    """Kubectl's prefix names the pod, the pod's name holds the Deployment's: one node each, of two alike."""
    lines = PREFILL_LOG.read_text("utf-8").splitlines(keepends=True)
    other = "spare-5c9d7f6b8-q8w7r"
    log = _written(
        tmp_path, "all.log", "".join(f"[pod/{pod}/server] {line}" for pod in (POD, other) for line in lines[1:])
    )
    changed = COMMAND.format(port=31001, context=256, canary="none").strip()
    manifest = _written(tmp_path, "prefill.yaml", MANIFEST.format(name="prefill", command=changed))
    result = inspect([manifest, log])
    assert [node.name for node in result.nodes] == [POD, other]
    assert [one.node for one in result.findings if one.rule == "sources-disagree"] == [POD]


def test_the_script_and_the_log_of_one_name_are_one(tmp_path: Path):
    """`prefill.sh` beside `prefill.log`: files called alike are of one server even without a port."""
    script = _written(tmp_path, "prefill.sh", AS_IT_RAN.replace("--port 31001 ", "--port $PORT "))
    log = _written(tmp_path, "prefill.log", PREFILL_LOG.read_text("utf-8"))
    assert len(inspect([script, log]).nodes) == 1
    beside = _written(tmp_path, "decode-0.log", PREFILL_LOG.read_text("utf-8"))
    assert len(inspect([script, beside]).nodes) == 2
