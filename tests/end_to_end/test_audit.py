"""`kvfence audit` as a program: exit codes, standard input, bad input, bounded memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from kvfence.cli.main import program
from support.audit_logs import CELL_START, HEADLINE, INCIDENT, LOGS, UNIFIED

PREFILL, DECODE = (INCIDENT / f"sglang-0.5.19-{role}.log" for role in ("prefill", "decode"))
CLEAN = f"{UNIFIED}\n{HEADLINE.format(rank='', pool=512, context=512)}\n"


def _audit(*arguments: str | Path, given: bytes = b"", **more: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "kvfence", "audit", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=120, **more)  # type: ignore[call-overload]  # passed on as given


@pytest.mark.parametrize(
    ("content", "code"),
    [(CLEAN, 0), (CLEAN.replace("=512,", "=511,", 1), 1), ("", 2), ("no engine's log\n", 3)],
    ids=["clean", "found", "usage", "inconclusive"],
)
def test_the_exit_code_is_the_verdict(tmp_path: Path, content: str, code: int):
    """0 clean, 1 found, 2 cannot be read, 3 not all that decides was seen."""
    path = tmp_path / "a.log"
    path.write_text(content)
    assert _audit(path).returncode == code


def test_a_junit_report_tells_the_time_of_the_run():
    """Its times add up to something, and not to more than the program ran."""
    began = time.monotonic()
    report = ET.fromstring(_audit("--format", "junit", PREFILL).stdout)
    assert 0 < sum(float(case.attrib["time"]) for case in report.iter("testcase")) < time.monotonic() - began


def test_exit_zero_forgives_only_findings(tmp_path: Path):
    """--exit-zero makes found 0; inconclusive and wrong use keep their codes."""
    (tmp_path / "noise.log").write_text("no engine's log\n")
    codes = [_audit("--exit-zero", path).returncode for path in (PREFILL, tmp_path / "noise.log", tmp_path / "absent")]
    assert codes == [0, 3, 2]


@pytest.mark.parametrize(
    ("level", "checks", "code"),
    [("error", "I3,I2-digest", 0), ("warning", "I3,I2-digest", 1), ("warning", "I1,I2-digest", 0)],
)
def test_findings_below_the_level_are_forgiven(tmp_path: Path, level: str, checks: str, code: int):
    """--fail-on error lets a medium finding pass, warning a low one; the report still tells them."""
    log = tmp_path / "prefill.log"
    log.write_text(CELL_START.format(role="prefill", rules="some", pool=1000, checks=checks) + "\n")
    run = _audit("--fail-on", level, log)
    assert run.returncode == code
    assert b"pool-below-context" in run.stdout


def test_what_is_forgiven_does_not_hide_what_was_not_seen(tmp_path: Path):
    """With its only finding below the level, a deployment with a gap is inconclusive, not clean."""
    log = tmp_path / "decode.log"
    log.write_text(CELL_START.format(role="decode", rules="some", pool=1000, checks="I1,I2-digest") + "\n")
    assert [_audit("--fail-on", level, log).returncode for level in ("note", "error")] == [1, 3]


def test_json_names_cause_and_figures():
    """The incident's logs give the cause as JSON on standard output, and nothing else there."""
    run = _audit(PREFILL, DECODE, "--format", "json")
    found = json.loads(run.stdout)
    assert run.returncode == 1
    assert found["schema"] == 1
    assert [node["facts"]["role"] for node in found["nodes"]] == ["prefill", "decode"]
    assert {"pool-below-context", "asymmetric-pools"} <= {finding["rule"] for finding in found["findings"]}


def test_standard_input_is_a_log():
    """`-` reads standard input and names it."""
    run = _audit("-", "--format", "json", given=PREFILL.read_bytes())
    (node,) = json.loads(run.stdout)["nodes"]
    assert (node["node"], node["facts"]["pool_tokens"]) == ("stdin", 128)


def test_a_report_is_written_and_the_table_is_printed(tmp_path: Path):
    """With -o the report goes to the file and the table to the terminal."""
    out = tmp_path / "audit.json"
    run = _audit(PREFILL, "--format", "json", "-o", out)
    assert json.loads(out.read_text())["verdict"] == "found"
    assert b"pool-below-context" in run.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("absent.log",),
        ("nothing",),
        ("binary",),
        ("good.log", "-o", "no/such/folder/x.json"),
        ("good.log", "empty.log"),
        (),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(tmp_path: Path, arguments: tuple[str, ...]):
    """Whatever cannot be used is said in one line on standard error; nothing is printed as if it had been audited."""
    (tmp_path / "nothing").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "good.log").write_text(CLEAN)
    (tmp_path / "empty.log").write_bytes(b"")
    run = _audit(*arguments, cwd=tmp_path)
    assert run.returncode == 2
    assert run.stdout == b""
    if arguments:
        assert run.stderr.startswith(b"kvfence: ")
        assert run.stderr.count(b"\n") == 1
        assert b"Traceback" not in run.stderr


def test_a_log_that_ends_within_a_line_gives_its_facts(tmp_path: Path):
    """A log truncated within a later line keeps the facts that stand before."""
    path = tmp_path / "cut.log"
    path.write_bytes(PREFILL.read_bytes()[:-40])
    run = _audit(path, "--format", "json")
    assert json.loads(run.stdout)["nodes"][0]["facts"]["pool_tokens"] == 128


def test_a_name_that_is_no_text_is_printed(tmp_path: Path):
    """A file name of bytes that are no UTF-8 does not stop the audit."""
    path = os.fsencode(tmp_path) + b"/\xff.log"
    Path(os.fsdecode(path)).write_text(CLEAN)
    command = [sys.executable.encode(), b"-m", b"kvfence", b"audit", path]
    run = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_no_log_of_the_corpus_brings_it_down(capsys: pytest.CaptureFixture[str], log: Path):
    """Each log of the corpus ends with a verdict's code and an empty standard error."""
    assert program("audit")(["audit", str(log)], standalone_mode=False) in {0, 1, 3}
    assert capsys.readouterr().err == ""


def test_all_logs_of_the_corpus_do_not_either():
    """As one deployment, in a process of its own."""
    run = _audit("--format", "json", *LOGS)
    assert run.returncode in {0, 1, 3}
    assert b"internal error" not in run.stderr
    report = json.loads(run.stdout)
    told = " ".join([node["node"] for node in report["nodes"]] + [gap["what"] for gap in report["not_checked"]])
    assert [log.stem for log in LOGS if log.stem not in told] == []


def test_noise_costs_no_memory(tmp_path: Path):
    """A log of 256 MiB is audited within an address space that could not hold it, and its one headline is found."""
    path = tmp_path / "noise.log"
    line = b'[2026-12-01 13:18:55] INFO:     127.0.0.1:41738 - "POST /generate HTTP/1.1" 200 OK\n'
    block = line * (4 * (1 << 20) // len(line))
    with path.open("wb") as file:
        for turn in range(64):
            file.write(block)
            if turn == 32:
                file.write(CLEAN.encode())

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20))

    run = _audit(path, "--format", "json", preexec_fn=limit)
    assert b"clean" in run.stderr.lower()  # the table, since standard output is the document's
    (node,) = json.loads(run.stdout)["nodes"]
    assert node["facts"]["pool_tokens"] == 512
    assert node["sources"]["pool_tokens"]["line"] == 33 * block.count(b"\n") + 2
