"""What `kvfence scan` writes: for its owner only, never over what is read, the same again for the same input."""

from __future__ import annotations

import csv
import json
import stat

import pytest

from support.programs import assert_one_clear_line, run_kvfence

RECORD = {
    "id": "=cmd()",
    "created": "2026-08-28T10:00:00Z",
    "user": "acme\u202e\nLtd",
    "model": "GLM-5.3",
    "status": 200,
    "request": {"messages": [{"role": "user", "content": "question"}]},
    "response": {"choices": [{"message": {"content": "an answer"}}], "usage": {"prompt_tokens": 700_000}},
}


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(RECORD) + "\nnot json\n")
    return path


def test_what_is_written_is_its_owners(tmp_path, log):
    """Mode 0600 from the start, also where the file was there and everybody's."""
    report, rotation = tmp_path / "scan.csv", tmp_path / "rotate.md"
    rotation.write_text("old", encoding="utf-8")
    rotation.chmod(0o644)
    ran = run_kvfence("scan", str(log), "--format", "csv", "-o", str(report), "--rotation", str(rotation))
    assert ran.code == 3, ran
    assert [stat.S_IMODE(path.stat().st_mode) for path in (report, rotation)] == [0o600, 0o600]
    rows = list(csv.DictReader(report.read_text(encoding="utf-8").splitlines()))
    assert (rows[0]["record"], rows[0]["kind"], rows[-1]["record"]) == ("verdict", "unknown", "not read")
    assert rotation.read_text(encoding="utf-8").startswith("# Secrets to rotate")


def test_the_same_input_gives_the_same_bytes(log):
    """No time of the run is in what programs read; of JSON the digests in the trail say so."""
    one, other = (run_kvfence("scan", str(log), "--format", "csv") for _ in range(2))
    assert one.out == other.out
    assert one.out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--rotation", "{dir}/rotate.xlsx"], [".csv or .md"]),
        (["--rotation", "{dir}/none/rotate.csv"], ["cannot write"]),
        (["--rotation", "{dir}/a.csv", "-o", "{dir}/./a.csv"], ["two outputs"]),
        (["-o", "{log}"], ["read"]),
    ],
)
def test_an_output_that_cannot_be_is_told_before_the_work(tmp_path, log, args, words):
    """One clear line, and the log stays as it is."""
    before = log.read_bytes()
    args = [arg.format(dir=tmp_path, log=log) for arg in args]
    assert_one_clear_line(run_kvfence("scan", str(log), *args), *words)
    assert log.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


def test_a_pipe_gets_the_report_and_no_mode(log):
    """`-o /dev/stdout` is a pipe here: it is written to and left as it is."""
    ran = run_kvfence("scan", str(log), "--format", "json", "-o", "/dev/stdout")
    assert '"schema": 1' in ran.out
