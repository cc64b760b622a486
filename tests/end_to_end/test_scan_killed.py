"""A scan that is killed without a warning goes on where it was, and says the same in the end."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.scan_corpus.plan import Plan
from support.scan_corpus.writing import write

PROGRAM = Path(__file__).parents[1] / "support" / "scan_in_slices.py"


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    plan = Plan(seed=3, size_bytes=600_000, tenants=8, leaks=0.5, public_bytes=1 << 18, prompt_bytes=700)
    (path,) = write(plan, tmp_path_factory.mktemp("corpus")).logs
    with path.open("a") as file:
        file.write("{ no JSON\n")
    return path


def begun(log, work, report):
    return subprocess.Popen([sys.executable, PROGRAM, log, work, report], start_new_session=True)


def done(work):
    return sum(1 for _ in work.glob("step-*/[0-9]*[0-9]"))


def killed(process, work, units, after_s):
    """The program and its workers, so long after so many units more are done; whether it was still running."""
    aim, until = done(work) + units, time.monotonic() + 60
    while process.poll() is None and done(work) < aim and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(after_s)
    was_running = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return was_running


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.fuzz)])
def test_a_scan_killed_again_and_again_says_the_same_to_the_byte(log, tmp_path, times):
    """At random moments: while workers begin, between units, in the middle of one."""
    moments = random.Random(times)
    assert begun(log, tmp_path / "undisturbed", tmp_path / "expected.json").wait() == 0
    expected = (tmp_path / "expected.json").read_bytes()
    work, report = tmp_path / "work", tmp_path / "report.json"
    kills = 0
    while kills < times:
        kills += killed(begun(log, work, report), work, moments.choice([0, 1, 1, 2]), moments.uniform(0, 0.05))
        if report.exists():  # it was over before its kill came; the next one begins anew
            assert report.read_bytes() == expected
            report.unlink()
    assert begun(log, work, report).wait() == 0
    assert report.read_bytes() == expected
    assert list(work.iterdir()) == []
