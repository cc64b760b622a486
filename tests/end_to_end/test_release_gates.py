"""The gate where releases happen: the action's step, the hooks and the Job's commands, as they stand in their files."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kvfence.audit.baseline import record
from support.audit_logs import CORPUS
from support.source_tree import ROOT

LOG = CORPUS / "minute" / "kubectl.log"
SMALLER = ("max_total_num_tokens=1198080", "max_total_num_tokens=600000")


def _path(folder: Path, **programs: str) -> dict[str, str]:
    """An environment in which `kvfence` is this tree's, and other programs are what is given."""
    binaries = folder / "bin"
    binaries.mkdir()
    programs["kvfence"] = f'exec {shlex.quote(sys.executable)} -m kvfence "$@"'
    for name, script in programs.items():
        (binaries / name).write_text(f"#!/bin/sh\n{script}\n")
        (binaries / name).chmod(0o755)
    return {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"}


def _run(command: list[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=100)


def _baseline(folder: Path) -> None:
    (folder / "a deployment.log").write_bytes(LOG.read_bytes())
    record([folder / "a deployment.log"], folder / "kvfence.lock")


def _shrink(folder: Path) -> None:
    log = folder / "a deployment.log"
    log.write_text(log.read_text().replace(*SMALLER))


def _action(step_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    return action, next(step for step in action["runs"]["steps"] if step["id"] == step_id)


def _gate_step(folder: Path, env: dict[str, str], **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step as a runner runs it: inputs put into its environment, its script given to bash with -e and pipefail."""
    action, step = _action("gate")
    values = {name: str(declared.get("default", "")) for name, declared in action["inputs"].items()} | inputs
    own = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: values[found.group(1)], text)
        for name, text in step["env"].items()
    }
    script = folder / "step.sh"
    script.write_text(step["run"])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return _run(command, folder, {**env, **own, "GITHUB_OUTPUT": str(folder / "github-output")})


def test_the_action_passes_and_fails_a_release(tmp_path: Path):
    """The same deployment passes; with a smaller pool the step fails, and its report is there."""
    env = _path(tmp_path)
    _baseline(tmp_path)
    assert _gate_step(tmp_path, env, targets="a deployment.log\n").returncode == 0
    _shrink(tmp_path)
    failed = _gate_step(tmp_path, env, targets="a deployment.log\n")
    assert failed.returncode == 1
    assert "KVF611" in failed.stdout
    assert "KVF611" in (tmp_path / "kvfence-gate.sarif").read_text()
    assert "report=kvfence-gate.sarif\n" in (tmp_path / "github-output").read_text()


def test_what_stands_in_an_input_of_the_action_is_never_run(tmp_path: Path):
    """An input is a file's name, whatever it looks like; so none of these exists."""
    env = _path(tmp_path)
    _baseline(tmp_path)
    hostile = ("--exit-zero", "$(touch owned)", "`touch owned`", "a; touch owned", '"; touch owned; "')
    ran = _gate_step(tmp_path, env, targets="\n".join(hostile), baseline="kvfence.lock", report="$(touch owned)")
    assert ran.returncode == 2
    assert "--exit-zero: no such file" in ran.stderr
    assert not (tmp_path / "owned").exists()


def test_no_script_of_the_action_has_an_expression_in_it():
    """Expressions stand in env alone, where they are data."""
    for step_id in ("install", "gate"):
        _action_of, step = _action(step_id)
        assert "${{" not in step["run"]


@pytest.mark.parametrize(
    "hook", yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")), ids=lambda h: h["id"]
)
def test_a_hook_runs_with_targets_as_its_arguments(tmp_path: Path, hook: dict[str, Any]):
    """The entry is a command of ours that takes targets, and fails a commit in which a pool shrank."""
    env = _path(tmp_path)
    _baseline(tmp_path)
    _shrink(tmp_path)
    assert hook["pass_filenames"] is False
    assert re.search(hook["files"], "logs/prefill.log")
    ran = _run([*shlex.split(hook["entry"]), "a deployment.log"], tmp_path, env)
    assert ran.returncode == 1
    assert "sglang-decode-0" in ran.stdout


def test_the_job_of_the_example_collects_logs_and_passes_them_to_the_gate(tmp_path: Path):
    """Both containers' commands, as they stand, but for where the volumes are mounted."""
    documents = list(yaml.safe_load_all((ROOT / "examples" / "kubernetes" / "gate-job.yaml").read_text("utf-8")))
    spec = next(one for one in documents if one["kind"] == "Job")["spec"]["template"]["spec"]
    (collect,), (gate,) = spec["initContainers"], spec["containers"]
    env = _path(tmp_path, kubectl=f'[ "$1" = logs ] && cat {shlex.quote(str(LOG))}')
    _baseline(tmp_path)
    for volume in spec["volumes"]:
        (tmp_path / volume["name"]).mkdir()
    (tmp_path / "kvfence.lock").rename(tmp_path / "baseline" / "kvfence.lock")

    def ran(container: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        command = [*container["command"], *container.get("args", [])]
        for mount in container["volumeMounts"]:
            command = [part.replace(f"{mount['mountPath']}/", f"{tmp_path}/{mount['name']}/") for part in command]
        return _run(command, tmp_path, env)

    assert ran(collect).returncode == 0
    assert ran(gate).returncode == 0
    log = tmp_path / "logs" / "deployment.log"
    log.write_text(log.read_text().replace(*SMALLER))
    assert ran(gate).returncode == 1
