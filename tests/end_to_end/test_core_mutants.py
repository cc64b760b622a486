"""The tool that changes guards of core, by one guard: a test of it notices, and one of something else does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE = next(
    number
    for number, line in enumerate((ROOT / "src/kvfence/core/admission.py").read_text().splitlines(), 1)
    if line.strip() == "if asked_tokens < 1:"
)


@pytest.mark.parametrize(("part", "noticed"), [("test_admission.py", True), ("test_wire.py", False)])
def test_a_guard_that_is_gone_is_noticed_by_its_own_test_alone(part, noticed):
    """Inverted, never true, and off by one."""
    parts = ["--parts", f"tests/unit/core/{part}"]
    command = [sys.executable, "benchmarks/core_mutants.py", "--only", "admission.py", "--line", str(LINE), *parts]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert told.returncode == 0, told.stderr
    rows = told.stdout.splitlines()[:-1]
    assert sorted(row.split()[2].strip(":") for row in rows) == ["inverted", "never", "off"]
    assert {row.rpartition(": ")[2] for row in rows} == {f"tests/unit/core/{part}" if noticed else "None"}
