"""The probe on a schedule: the example's command, as it stands in its file, and the page beside what is written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.report.probe_formats import ProbeFormat
from support.probe_results import probe_of, row_of, written
from support.probe_servers import Behaviour, endpoint
from support.source_tree import ROOT

PAGE = (ROOT / "docs" / "every-week.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("behaviour", "code", "verdict"),
    [(Behaviour(), 0, "clean"), (Behaviour(limit=3000, beyond="leak"), 1, "leak")],
    ids=["clean", "leak"],
)
def test_the_command_of_the_cron_job_leaves_metrics_and_its_exit_code(tmp_path: Path, behaviour, code, verdict):
    """With this endpoint in the place of the example's, and a folder in the place of the volume."""
    file = ROOT / "examples" / "kubernetes" / "probe-cronjob.yaml"
    spec = yaml.safe_load(file.read_text("utf-8"))["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    (mount,) = container["volumeMounts"]
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "kvfence"
    program.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kvfence "$@" --scenario sweep --max-rps 1000\n'
    )
    program.chmod(0o755)
    keys = {"KEY_A": "key-a", "KEY_B": "key-b", "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    with endpoint(behaviour) as server:
        (script,) = container["args"]
        script = script.replace("http://router.example:8000/v1", server.url)
        script = script.replace(f"{mount['mountPath']}/", f"{tmp_path}/")
        command = [*container["command"], script]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **keys})
    assert ran.returncode == code, ran.stderr
    assert verdict in ran.stdout
    assert [path.name for path in tmp_path.glob("kvfence-probe*")] == ["kvfence-probe.prom"]
    text = (tmp_path / "kvfence-probe.prom").read_text("utf-8")
    told = next(one for one in text_string_to_metric_families(text) if one.name == "kvfence_probe_verdict")
    assert [sample.labels["verdict"] for sample in told.samples if sample.value] == [verdict]


def test_every_metric_and_every_verdict_is_on_the_page():
    """And none that is not written."""
    text = written(probe_of(row_of(LengthVerdict.LEAK), unasked=(5,)), ProbeFormat.PROMETHEUS)
    names = {family.name for family in text_string_to_metric_families(text)}
    table = PAGE.partition("## The metrics")[2].partition("## ")[0]
    assert set(re.findall(r"`(kvfence_probe_[a-z_]+)", table)) == names
    assert all(f"`{verdict}`" in table for verdict in ProbeVerdict)


def test_the_alerts_are_yaml_and_leave_no_bad_verdict_out():
    """Every verdict but clean is in one of them."""
    rules = yaml.safe_load(PAGE.partition("```yaml\n")[2].partition("```")[0])["groups"][0]["rules"]
    told = re.findall(r'verdict=~"([^"]+)"', " ".join(rule["expr"] for rule in rules))
    assert sorted("|".join(told).split("|")) == sorted(set(ProbeVerdict) - {ProbeVerdict.CLEAN})
