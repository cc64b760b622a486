"""No secret is in anything that a scan writes: 500 of 45 kinds are planted and looked for in all that it leaves."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kvfence.report.scan_formats import ScanFormat
from support.planted_secrets import CARRIERS, KINDS, planted

PLANTED = 500
FILLER = "The quarterly figures are in the appendix; nothing in them is out of the ordinary. "


def exchange(number, prompt, answer):
    return {
        "id": f"r{number}",
        "created": 1_788_000_000 + number,
        "user": f"tenant-{number % 9}",
        "model": "GLM-5.3",
        "status": 200,
        "request": {"messages": [{"role": "user", "content": prompt}]},
        "response": {"choices": [{"message": {"content": answer}, "finish_reason": "stop"}]},
    }


def planted_log(path, *, padding=0):
    """The values in it. Every fourth stands in an answer to somebody else; two lines that cannot be read hold one."""
    rng = random.Random(20_260_903)
    values, records = [], []
    for number in range(PLANTED):
        one = planted(rng, list(KINDS)[number % len(KINDS)])
        text = f"question {number}\n" + list(CARRIERS.values())[number % len(CARRIERS)](one.written) + FILLER * padding
        values.append(one.value)
        if number % 4 == 0:  # somebody else had sent it: the answer is foreign text as well, and has a preview
            records.append(exchange(number - 10_000, text, "ok"))
        records.append(exchange(number, *((text, "ok") if number % 4 else ("and?", text))))
    values += [planted(rng, "github-pat").value, planted(rng, "stripe").value]
    lines = [json.dumps(one) + "\n" for one in records]
    lines[7:7] = [f'{{"id": "{values[-2]}", "request": \n', json.dumps({"nothing": values[-1]}) + "\n"]
    path.write_text("".join(lines))
    return values


def pieces(value):
    """Each line of it with what it says; of the armour of a key only the body."""
    lines = [line for line in value.split("\n") if not line.startswith("-----")]
    return [line for line in lines if len(line) >= 8] or [value]


def shown(values, texts):
    """Of which values a part of 60 % or more can be read in one of these texts."""
    return [value[:12] for value in values for piece in pieces(value) for text in texts if _is_shown(piece, text)]


def _is_shown(piece, text):
    size = -(-len(piece) * 6 // 10)
    middle = piece[len(piece) - size : size]  # every part of that size has it
    if middle.encode() not in text:
        return False
    return any(piece[at : at + size].encode() in text for at in range(len(piece) - size + 1))


def all_files(*folders):
    return [path.read_bytes() for folder in folders for path in Path(folder).rglob("*") if path.is_file()]


def environment(folder):
    (folder / "tmp").mkdir(exist_ok=True)
    return os.environ | {"TMPDIR": str(folder / "tmp")}


def command(*args):
    return [sys.executable, "-m", "kvfence", "scan", *map(str, args)]


def test_the_search_finds_what_is_shown():
    """A control: three fifths of a value are noticed, a quarter is not."""
    value = planted(random.Random(1), "github-pat").value
    assert shown([value], [b"x" + value[10:34].encode() + b"x"])
    assert shown([value], [value.encode()])
    assert not shown([value], [value[:10].encode()])
    key = planted(random.Random(1), "private-key-ec").value
    assert shown([key], [key.split("\n")[2].encode()])


@pytest.mark.slow
def test_no_format_and_no_file_shows_a_secret(tmp_path):
    """In every format, with a work folder and a list of rotations: none of the 502 in any output or file."""
    log = tmp_path / "in" / "log.jsonl"
    log.parent.mkdir()
    values = planted_log(log)
    outputs = tmp_path / "out"
    outputs.mkdir()
    for form in ScanFormat:
        args = [log, "--format", form, "--output", outputs / f"report.{form}", "--fingerprint-key", tmp_path / "key"]
        args += ["--rotation", outputs / f"{form}.csv"] if form is ScanFormat.JSON else []
        ran = subprocess.run(command(*args), capture_output=True, env=environment(tmp_path), check=False)
        assert ran.returncode == 1, ran.stderr
        assert shown(values, [ran.stdout, ran.stderr]) == []
    kept = [Path("~/.cache").expanduser() / name for name in ("kvfence", "kingfisher")]
    assert shown(values, all_files(outputs, tmp_path / "tmp", *kept)) == []
    assert all_files(tmp_path / "tmp") == []
    report = json.loads((outputs / "report.json").read_text())
    assert report["skipped"] == 2
    assert len(report["secrets"]) >= PLANTED * 0.97
    assert sum(one["in_foreign_answer"] for one in report["secrets"]) >= PLANTED / 4 * 0.97
    assert len({one["fingerprint"] for one in report["secrets"]}) == len(report["secrets"])


@pytest.mark.slow
def test_a_killed_scan_leaves_no_secret_and_goes_on_to_the_same_result(tmp_path):
    """Killed while rows are written; its processes could not have left an image of their memory."""
    log = tmp_path / "log.jsonl"
    values = planted_log(log, padding=100)
    args = [log, "--format", "json", "--fingerprint-key", tmp_path / "key", "--work", tmp_path / "work"]
    with subprocess.Popen(
        command(*args),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
        start_new_session=True,
    ) as process:
        until = time.monotonic() + 60
        while not list((tmp_path / "work").glob("step-*/*.part/*")):
            assert time.monotonic() < until
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.002)
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    assert re.search(r"Max core file size +0 ", limits)
    assert shown(values, [out, err, *all_files(tmp_path / "work", tmp_path / "tmp")]) == []
    ran = subprocess.run(command(*args), capture_output=True, env=environment(tmp_path), check=False)
    whole = subprocess.run(command(*args[:-2]), capture_output=True, env=environment(tmp_path), check=False)
    assert (ran.returncode, ran.stdout) == (1, whole.stdout)
    assert shown(values, [ran.stdout, ran.stderr]) == []
    assert len(json.loads(ran.stdout)["secrets"]) >= PLANTED * 0.97
