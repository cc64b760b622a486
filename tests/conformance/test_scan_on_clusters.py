"""The same rows from a real Ray and a real Spark as from this process, also where a worker is killed.

Needs the extras ray and spark, and Java for Spark.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest

from kvfence.errors import TargetError, UnsupportedError
from kvfence.scan.passing.choice import RayCluster, SparkCluster, engine_for
from kvfence.scan.passing.engine import InThisProcess
from kvfence.scan.passing.passed import passed
from kvfence.scan.passing.units import units_of
from kvfence.scan.reading.inputs import sources_of
from support.programs import run_kvfence
from support.scan_passes import Lengths, lines_of_log

HAS_RAY = importlib.util.find_spec("ray") is not None
HAS_SPARK = importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None
on_ray = pytest.mark.skipif(not HAS_RAY, reason="the extra ray is not installed")
on_spark = pytest.mark.skipif(not HAS_SPARK, reason="the extra spark is not installed, or there is no Java")
CLUSTERS = [
    pytest.param(RayCluster("local", 2), marks=on_ray, id="ray"),
    pytest.param(SparkCluster("local[2,4]", 2), marks=on_spark, id="spark"),
]

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("default")]


@pytest.fixture
def units(tmp_path, monkeypatch):
    ours = (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(ours))  # where workers find the passes of these tests
    (tmp_path / "a.jsonl").write_text("{\n" + lines_of_log(200))
    return units_of(sources_of([str(tmp_path / "a.jsonl")]), unit_bytes=4000)


def rows(passes, units, engine, folder):
    folder.mkdir()
    done = passed(passes, units, engine=engine, folder=folder)
    return [batch.to_pylist() for batch in done.batches("lengths")], list(done.unread())


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_killed_worker_loses_nothing_and_the_rows_are_the_same(units, tmp_path, cluster):
    expected = rows([Lengths()], units, InThisProcess(), tmp_path / "here")
    dying = Lengths(dies_once=tmp_path / "died", ballast=bytes(4 << 20))
    assert rows([dying], units, engine_for(units, cluster), tmp_path / "there") == expected
    assert (tmp_path / "died").exists()


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_workers_that_always_die_end_in_one_clear_line(units, tmp_path, cluster):
    with pytest.raises(UnsupportedError, match=r"died|too often"):
        rows([Lengths(dies_always=True)], units, engine_for(units, cluster), tmp_path / "there")


@on_ray
def test_a_ray_that_is_not_there_is_told_at_once(units, tmp_path):
    with pytest.raises(TargetError, match="no Ray cluster there"):
        rows([Lengths()], units, engine_for(units, RayCluster("127.0.0.1:9", 2)), tmp_path / "there")


@pytest.mark.parametrize(
    "option", [pytest.param("--ray=local", marks=on_ray), pytest.param("--spark=local[2,4]", marks=on_spark)]
)
def test_the_program_says_the_same_on_a_cluster_as_without_one(tmp_path, option):
    log = tmp_path / "a.jsonl"
    log.write_text(lines_of_log(300))
    key = f"--fingerprint-key={tmp_path / 'key'}"
    here = run_kvfence("scan", str(log), key, "--format", "json")
    there = run_kvfence("scan", str(log), key, "--format", "json", option, "--workers", "2")
    assert (there.code, json.loads(there.out)) == (here.code, json.loads(here.out))
