"""The probe's verdict beside the oracle's count, on a wire that takes time. Long: benchmarks/probe_truth.py."""

import json
import re

import httpx
import pytest

from support.programs import run_kvfence, served

COUNTED = re.compile(r'^kvfence_foreign_answers_total\{worker="decode-0"\} (\S+)$', re.MULTILINE)
SLOW = ("--wire-delay", "200", "--lease", "0.05")
CELL = ("--context", "2048", "--taint", "record")
ASK = ("--lengths", "1000", "--depths", "2", "--concurrency", "4", "--seed", "5", "--format", "json")


@pytest.mark.parametrize(
    ("rules", "manner", "leaks"),
    [
        ("fenced", "hang-up", False),
        ("lease-expiry", "concurrent", True),
        ("no-drain", "hang-up", None),  # a race: it may be met or not, but both must say the same
    ],
)
def test_the_probe_says_leak_where_the_oracle_counts_and_nowhere_else(rules, manner, leaks):
    """From outside, without knowing the rule; what the oracle saw is read when the probe has ended."""
    with served("--rules", rules, *CELL, *SLOW) as (url, _):
        report = json.loads(run_kvfence("probe", url, *ASK, "--scenario", manner).out)
        metrics = httpx.get(url.removesuffix("/v1") + "/metrics").text
    counted = float(COUNTED.findall(metrics)[0])
    found = report["verdict"] == "leak"
    assert not found or counted > 0, report["reason"]
    assert leaks is None or (found, counted > 0) == (leaks, leaks), (report["reason"], counted)
    assert report["verdict"] in ("leak", "clean") or counted > 0, report["reason"]
