"""The audit trail of `kvfence scan`: two lines a run, what was read by its hash, for its owner only."""

from __future__ import annotations

import hashlib
import json
import stat

import pytest

from support.programs import assert_one_clear_line, run_kvfence


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    request = {"messages": [{"role": "user", "content": "CUSTOMERS-TEXT"}]}
    response = {"choices": [{"message": {"content": "an answer"}}]}
    path.write_text(json.dumps({"id": "r1", "status": 200, "request": request, "response": response}) + "\n")
    return path


def lines_of(trail) -> list[dict]:
    return [json.loads(line) for line in trail.read_text(encoding="utf-8").splitlines()]


def test_each_run_adds_a_line_before_and_a_line_after(tmp_path, log):
    """With what was read and written, by size and hash; no text, and nobody else may read it."""
    trail, report = tmp_path / "trail.jsonl", tmp_path / "scan.json"
    for _ in range(2):
        ran = run_kvfence("scan", str(log), "--format", "json", "-o", str(report), "--trail", str(trail))
        assert ran.code == 0, ran
    began, ended, *again = lines_of(trail)
    assert [began["event"], ended["event"], *(one["event"] for one in again)] == ["began", "ended"] * 2
    assert began["run"] == ended["run"] != again[0]["run"]
    assert began["read"][0]["size_bytes"] == log.stat().st_size
    assert ended["read"][0]["sha256"] == hashlib.sha256(log.read_bytes()).hexdigest()
    assert ended["read"][0]["changed"] is False
    assert again[1]["wrote"] == [
        {
            "file": str(report),
            "size_bytes": report.stat().st_size,
            "sha256": hashlib.sha256(report.read_bytes()).hexdigest(),
        }
    ]
    assert ended["digest"] == again[1]["digest"] == hashlib.sha256(report.read_bytes()).hexdigest()
    assert stat.S_IMODE(trail.stat().st_mode) == 0o600
    assert "CUSTOMERS-TEXT" not in trail.read_text(encoding="utf-8")
    assert "--trail" in began["command"]


def test_a_run_that_ends_early_has_its_first_line(tmp_path, log):
    """What it read was read all the same."""
    trail = tmp_path / "trail.jsonl"
    work = tmp_path / "work"
    work.mkdir()
    (work / "something.txt").write_text("not ours", encoding="utf-8")
    ran = run_kvfence("scan", str(log), "--work", str(work / "something.txt" / "x"), "--trail", str(trail))
    assert ran.code == 2, ran
    assert [one["event"] for one in lines_of(trail)] == ["began"]


@pytest.mark.parametrize(
    ("args", "words"),
    [(["--trail", "{log}"], ["read"]), (["--letter-for", "acme"], ["--format markdown"])],
)
def test_wrong_use_is_one_clear_line(log, args, words):
    """A log is the evidence, and a letter has one form."""
    before = log.read_bytes()
    assert_one_clear_line(run_kvfence("scan", str(log), *(arg.format(log=log) for arg in args)), *words)
    assert log.read_bytes() == before


def test_a_letter_is_written_for_a_tenant(log):
    """To standard output, as any report."""
    ran = run_kvfence("scan", str(log), "--format", "markdown", "--letter-for", "acme")
    assert ran.out.startswith("# What was found that concerns acme\n")
    assert "CUSTOMERS-TEXT" not in ran.out + ran.err
