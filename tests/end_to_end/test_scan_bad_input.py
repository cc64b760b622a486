"""Whatever lies among the logs: one clear line each, the rest is scanned, and nothing is called clean."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from support.programs import run_kvfence

CORPUS = Path(__file__).parents[1] / "corpus" / "scan"
MIB = 1 << 20


def record(number, **changes):
    said = {
        "id": f"r{number}",
        "created": "2026-08-28T10:00:00Z",
        "user": "acme",
        "status": 200,
        "request": {"messages": [{"role": "user", "content": f"question {number}"}]},
        "response": {"choices": [{"message": {"content": "an answer"}, "finish_reason": "stop"}]},
    }
    return json.dumps(said | changes).encode() + b"\n"


GOOD = record(1) + record(2)
MANY = b"".join(record(number, note=os.urandom(150).hex()) for number in range(500))
"""Packed it is long enough to be cut off in the middle."""


def in_parquet(table):
    file = io.BytesIO()
    pq.write_table(pa.table(table), file)
    return file.getvalue()


def cut_off(content):
    return content[: len(content) // 2]


BAD = {
    "empty.jsonl": (b"", 0, "empty"),
    "blank.jsonl": (b"\n\n  \n", 0, "empty"),
    "image.png": (b"\x89PNG\r\n\x1a\n" + bytes(64), 0, "binary, not a log"),
    "notes.txt": (b"hello\nworld\n", 0, "no log format that is known"),
    "utf-16.jsonl": (GOOD.decode().encode("utf-16"), 0, "iconv"),
    "no-utf-8.jsonl": (GOOD + b'{"id": "r3", "request": "\xff", "response": "x"}\n' + record(4), 3, "not UTF-8"),
    "deep.jsonl": (GOOD + b'{"id": "r3", "request": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", 2, "too deep"),
    "nul-line.jsonl": (GOOD + bytes(40) + b"\n" + record(3), 3, "NUL bytes"),
    "no-json.jsonl": (GOOD + b'{"id": oops}\n', 2, "not JSON"),
    "no-object.jsonl": (b"null\n" + GOOD, 2, "not an object"),
    "ends-early.jsonl": (GOOD + record(3)[:60], 2, "ends in the middle"),
    "ends-early.json": (b"[" + record(1) + b"," + record(2)[:60], 1, "ends in the middle"),
    "cut-off.jsonl.gz": (cut_off(gzip.compress(MANY)), None, "in the middle of its gzip stream"),
    "cut-off.jsonl.zst": (cut_off(zstandard.compress(MANY)), None, "in the middle of its zstd stream"),
    "broken.jsonl.gz": (b"\x1f\x8bnothing of the kind", 0, "gzip stream is broken"),
    "broken.jsonl.zst": (b"\x28\xb5\x2f\xfdnothing of the kind", 0, "zstd stream is broken"),
    "foreign.parquet": (in_parquet({"weather": ["fine"], "wind": [3]}), 0, "no log format that is known"),
    "broken.parquet": (b"PAR1 and no more", 0, "not Parquet"),
    "one-cell-less.csv": (b"id,request,response\nr1,a,b\nr2,only two\nr3,a,b\n", 2, "has 2 cells"),
    "new\nline\x1b[31m.jsonl": (GOOD + b"oops\n", 2, "not JSON"),
    "of-several.jsonl": (GOOD + b'{"weather": "fine"}\n', 2, "no log format that is known"),
}
"""Name: what is in it, how many exchanges can be read of it, and what the line about it says."""
FINE = {
    "bom-and-crlf.jsonl": (b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n"), 2),
    "half-a-pair.jsonl": (b'{"id": "r", "request": "cut in an emoji \\ud83d", "response": "x"}\n', 1),
    "nul-in-text.jsonl": (b'{"id": "r", "request": "a\\u0000b", "response": "x"}\n', 1),
    "nul-ahead.jsonl": (bytes(5000) + GOOD, 2),
    "big-cell.csv": (b"id,request,response\nr1," + b"x" * (3 * MIB) + b",y\nr2,a,b\n", 2),
    "mixed.jsonl": (GOOD + (CORPUS / "litellm" / "payload.jsonl").read_bytes(), 5),
}
"""What looks bad and is read all the same, whole."""


@pytest.fixture(scope="module")
def scanned(tmp_path_factory):
    """All of it in one folder, in one scan: what ran, its report, and the lines by file."""
    folder = tmp_path_factory.mktemp("logs")
    for name, (content, *_) in (BAD | FINE).items():
        (folder / name).write_bytes(content)
    (folder / "dangling.jsonl").symlink_to(folder / "not-there")
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    os.mkfifo(folder / "pipe.jsonl")
    ran = run_kvfence("scan", str(folder), "--format", "json")
    report = json.loads(ran.out)
    lines = {}
    for one in report["not_read"]:
        lines.setdefault(Path(one["file"]).name, []).append(one["why"])
    return ran, report, lines


def test_the_rest_is_scanned_and_nothing_is_called_clean(scanned):
    """Exit 3: not all could be read. No traceback, and every exchange that could be read was."""
    ran, report, _lines = scanned
    assert ran.code == 3
    assert "Traceback" not in ran.err
    certain = sum(count for _, count, _ in BAD.values() if count is not None) + sum(count for _, count in FINE.values())
    assert certain < report["requests"] < certain + 2 * 500


@pytest.mark.parametrize("name", BAD)
def test_each_bad_input_is_one_clear_line(scanned, name):
    """It says what was met. Control characters of a name do not reach the terminal."""
    _ran, _report, lines = scanned
    shown = name.replace("\n", "?").replace("\x1b", "?")
    [why] = lines[shown]
    assert BAD[name][2] in why
    assert "\n" not in why


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dangling.jsonl", "No such file"),
        ("loop.jsonl", "symbolic links"),
        ("pipe.jsonl", "not a regular file"),
    ],
)
def test_what_is_no_file_is_one_clear_line(scanned, name, words):
    """A link to nothing, to itself, and a pipe, on which a scan would wait for ever."""
    [why] = scanned[2][name]
    assert words in why


def test_what_only_looks_bad_is_not_complained_about(scanned):
    """Byte-order marks, line ends of Windows, zeros before a rotated log, long cells, several formats in one file."""
    assert not scanned[2].keys() & FINE.keys()


def test_no_escape_of_a_name_or_a_text_reaches_the_terminal(scanned):
    """The table of what was not read has names as they can be shown."""
    assert "\x1b" not in scanned[0].err
    assert "\x1b" not in scanned[0].out


def test_a_formula_in_a_cell_stays_text(tmp_path):
    """It is read as any text, and what is written as CSV begins no cell with it."""
    text = io.StringIO()
    csv.writer(text).writerows([["id", "user", "request", "response"], ["=1+1", "@SUM(A1)", "=HYPERLINK(1)", "+1"]])
    (tmp_path / "a.csv").write_text(text.getvalue())
    assert json.loads(run_kvfence("scan", str(tmp_path / "a.csv"), "--format", "json").out)["requests"] == 1
    rows = run_kvfence("scan", str(tmp_path / "a.csv"), "--format", "csv").out.splitlines()
    assert not [cell for row in csv.reader(rows) for cell in row if cell[:1] in {"=", "@", "+"}]


MEASURED = (  # ru_maxrss of the process itself has the size of whoever began it: the tests
    "import resource, sys\n"
    "sys.argv[0] = 'kvfence'\n"
    "from kvfence.cli.main import run\n"
    "try:\n"
    "    run()\n"
    "finally:\n"
    "    own = int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
    "    most = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    "    print(f'most={most}', file=sys.stderr)\n"
)


def test_a_line_of_200_megabytes_is_passed_over_in_bounded_memory(tmp_path):
    """It is told and the lines around it are read. The process and its workers stay below 600 MiB, imports and all."""
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(record(1) + b'{"id": "r2", "request": "')
        for _ in range(200):
            file.write(b"mill " * (MIB // 5))
        file.write(b'", "response": "x"}\n' + record(3))
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, "scan", str(path), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(ran.stdout)
    assert (ran.returncode, report["requests"]) == (3, 2)
    [why] = report["not_read"]
    assert (why["line"], "longer than 64 MiB" in why["why"]) == (2, True)
    assert int(ran.stderr.rpartition("most=")[2]) < 600 * 1024  # KiB
