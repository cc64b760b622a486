"""What the shell is told does not depend on who reads what is printed, on its letters, or on closed streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.programs import assert_one_clear_line, run_kvfence

HEADLINE = "python -m sglang.launch_server --model-path /m\n[2026-01-01 00:00:00] max_total_num_tokens={pool}, chunked_prefill_size=2048, max_prefill_tokens=16384, max_running_requests=64, context_len=512, available_gpu_mem=19.14 GB\n"  # noqa: E501 — the command and one line of a log
FORMATS = (("--format", "table"), ("--format", "json"))
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")


def _log(folder: Path, *, pool: int) -> str:
    path = folder / "worker.log"
    path.write_text(HEADLINE.format(pool=pool))
    return str(path)


def _code(*args: str, shell_end: str = "", **environment: str) -> tuple[int, str]:
    command = f'"$@" {shell_end}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, "sh", sys.executable, "-m", "kvfence", *args],
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize(("pool", "how", "code"), [(512, FORMATS[0], 0), (512, FORMATS[1], 0), (128, FORMATS[1], 1)])
def test_a_reader_that_goes_away_changes_no_verdict(tmp_path, pool, how, code):
    """`kvfence audit … | head` under pipefail: clean stays 0 and found stays 1."""
    log = _log(tmp_path, pool=pool)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        ran = subprocess.run(
            [sys.executable, "-m", "kvfence", "audit", log, *how],
            stdout=gone,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert ran.returncode == code, ran.stderr
    assert b"Broken" not in ran.stderr


def test_a_closed_output_changes_no_verdict(tmp_path):
    """Who closes standard output asks for the exit code alone."""
    assert _code("audit", _log(tmp_path, pool=512), "--format", "json", shell_end=">&-")[0] == 0


@needs_full
@pytest.mark.parametrize("how", FORMATS, ids=["table", "json"])
def test_a_full_disk_is_one_line(tmp_path, how):
    """The report is not there, so its verdict must not look as if it were."""
    code, told = _code("audit", _log(tmp_path, pool=512), *how, shell_end=">/dev/full")
    assert code == 2
    assert told.count("\n") == 1
    assert "No space left" in told


def test_an_output_without_our_letters_still_gets_the_report(tmp_path):
    """LC_ALL=C of an old container: letters are replaced, the verdict stands."""
    log = _log(tmp_path, pool=128)
    Path(log).write_text(Path(log).read_text().replace("\n", " \u2026 \u00fc" + " x" * 400 + "\n"), encoding="utf-8")
    assert _code("audit", log, PYTHONIOENCODING="ascii")[0] == 1


def test_a_closed_input_is_an_empty_one():
    """`kvfence audit - <&-` is wrong use, and no fault of ours."""
    code, told = _code("audit", "-", shell_end="<&-")
    assert code == 2
    assert "empty" in told


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("nonsense",), ("nonsense", "kvfence --help")),
        (("audit",), ("nothing to audit", "name a log file")),
        (("audit", "x.log", "--format", "xml"), ("xml", "json", "kvfence audit --help")),
        (("serve", "induction", "--port", "65536"), ("--port", "65535")),
        (("serve", "induction", "--context", str(10**12)), ("memory",)),
    ],
)
def test_wrong_use_is_one_line_that_says_where_help_is(args, words):
    """No box, no usage page: one line that a log of a pipeline can carry."""
    assert_one_clear_line(run_kvfence(*args), *words)


def test_no_command_shows_the_help_and_is_wrong_use():
    """A newcomer types the name alone."""
    ran = run_kvfence()
    assert ran.code == 2
    assert "audit" in ran.out
