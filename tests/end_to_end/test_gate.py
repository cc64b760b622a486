"""`kvfence gate` as a program: write, pass, fail, and wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.audit_logs import INCIDENT
from support.programs import assert_one_clear_line, run_kvfence

PREFILL, DECODE = (str(INCIDENT / f"sglang-0.5.19-{role}.log") for role in ("prefill", "decode"))


def test_a_baseline_is_written_passed_and_failed(tmp_path: Path):
    """0 when nothing moved, 1 with the figures as JSON when a pool shrank."""
    wrote = run_kvfence("gate", "--write", PREFILL, DECODE, cwd=tmp_path)
    assert wrote.code == 0, wrote
    assert "kvfence.lock: written" in wrote.err
    assert run_kvfence("gate", PREFILL, DECODE, cwd=tmp_path).code == 0
    smaller = Path(DECODE).read_text("utf-8").replace("max_total_num_tokens=512", "max_total_num_tokens=300")
    (tmp_path / "decode.log").write_text(smaller)
    moved = run_kvfence("gate", "--format", "json", PREFILL, "decode.log", cwd=tmp_path)
    assert moved.code == 1
    (finding,) = json.loads(moved.out)["findings"]
    assert (finding["code"], finding["node"]) == ("KVF611", "decode")
    assert "300, and 512 in the baseline" in finding["message"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((PREFILL,), ("no baseline yet", "--write")),
        (("--tolerance", "half", PREFILL), ("--tolerance half", "2%")),
        (("--tolerance", "100%", PREFILL), ("--tolerance 100%",)),
        (("--tolerance", "nan", PREFILL), ("--tolerance nan",)),
        (("--write", "--baseline", "no/such/place.lock", PREFILL), ("cannot write", "--baseline")),
        (("--write", "absent.log"), ("absent.log", "no such file")),
    ],
)
def test_wrong_use_is_one_clear_line(tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]):
    """Exit 2, what is wrong, what to do."""
    assert_one_clear_line(run_kvfence("gate", *arguments, cwd=tmp_path), *words)
