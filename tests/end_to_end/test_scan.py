"""`kvfence scan` as a person or a pipeline meets it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from support.programs import assert_one_clear_line, run_kvfence


def record(number, **changes):
    return {
        "id": f"r{number}",
        "created": "2026-08-28T10:00:00Z",
        "user": "acme",
        "model": "GLM-5.3",
        "status": 200,
        "request": {"messages": [{"role": "user", "content": f"question {number}"}]},
        "response": {
            "choices": [{"message": {"content": "an answer"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 681_280 + number, "completion_tokens": 3},
        },
    } | changes


def log(folder, *records, name="log.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return str(path)


def scanned(*args):
    ran = run_kvfence("scan", *args, "--format", "json")
    return ran, json.loads(ran.out)


def test_a_scan_counts_requests_and_those_in_the_window(tmp_path):
    """The incident's window leaves out what was not over its length; nothing is called clean that was not looked at."""
    ran, report = scanned(log(tmp_path, *map(record, range(3))), "--incident")
    assert (ran.code, report["schema"], report["requests"], report["exposed"]) == (3, 1, 3, 2)
    assert report["verdict"] == "unknown"
    assert report["coverage"] == {"whole": 0, "cut": 3, "encrypted": 0, "omitted": 0}  # so few words are no such length


@pytest.mark.parametrize(
    ("options", "exposed"),
    [
        (["--exposed-after", "681280"], 2),
        (["--from", "2026-08-29"], 0),
        (["--to", "2026-08-28T10:00:01+00:00"], 3),
        (["--model", "glm"], 3),
        (["--model", "llama"], 0),
        (["--incident", "--exposed-after", "681281"], 1),
    ],
)
def test_each_part_of_the_window_is_an_option(tmp_path, options, exposed):
    """Alone, or in place of a part of the preset."""
    assert scanned(log(tmp_path, *map(record, range(3))), *options)[1]["exposed"] == exposed


def test_a_refused_request_is_whole_and_a_lost_answer_is_not(tmp_path):
    """A 400 has no answer to look at; a 200 without one is not covered."""
    path = log(tmp_path, record(1, status=400, response=None), record(2, response=None))
    ran, report = scanned(path)
    assert report["coverage"] == {"whole": 1, "cut": 0, "encrypted": 0, "omitted": 1}
    assert "1 of 2 requests is without a text" in ran.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["no-such.jsonl"], ["no-such.jsonl", "no such file"]),
        (["-"], ["twice"]),
        (["{log}", "--from", "yesterday"], ["--from", "ISO"]),
        (["{log}", "--input-format", "nginx"], ["no such format", "plain"]),
        (["{log}", "--output", "{log}"], ["read"]),
    ],
)
def test_wrong_use_is_one_clear_line(tmp_path, args, words):
    """With what was met and what to do."""
    path = log(tmp_path, record(1))
    assert_one_clear_line(run_kvfence("scan", *(arg.format(log=path) for arg in args)), *words)


def test_without_the_extra_one_line_says_how_to_get_it(tmp_path):
    """The plain install is light; the command says what it needs."""
    code = (
        "import sys; sys.modules['pyarrow'] = None; sys.argv = ['kvfence', 'scan', sys.argv[1]]\n"
        "from kvfence.cli.main import run; run()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, log(tmp_path, record(1))], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr.strip().splitlines() == [
        "kvfence: scan needs pyarrow, which is not installed: pip install 'kvfence[scan]'"
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--ray", "local", "--spark", "local"], ["--ray and --spark", "one of them"]),
        (["--ray", "10.0.0.1:6379"], ["--ray", "--work"]),
        (["--spark", "spark://10.0.0.1:7077"], ["--spark", "--work"]),
    ],
)
def test_what_does_not_go_together_on_clusters_is_one_clear_line(tmp_path, args, words):
    """Before anything is read or begun."""
    assert_one_clear_line(run_kvfence("scan", log(tmp_path, record(1)), *args), *words)


def test_an_answer_with_anothers_text_is_found_and_the_text_is_not_shown(tmp_path):
    """Which answer, whose text, how long; exit 1. No more of it than a few letters is in any report."""
    secret = "The merger of Quillfeather and Obsidian Harbour closes on 14 October at 9 a.m. sharp, tell nobody"
    victim = record(1, user="victim", request={"messages": [{"role": "user", "content": f"Translate: {secret}."}]})
    answer = {"choices": [{"message": {"content": f"Sure. {secret}"}, "finish_reason": "stop"}]}
    path = log(tmp_path, victim, record(2, created="2026-08-28T10:00:09Z", response=answer))
    ran, report = scanned(path)
    (match,) = report["matches"]
    assert (ran.code, report["verdict"], match["response_id"], match["source_id"]) == (1, "found", "r2", "r1")
    assert (match["span_chars"], match["across_tenants"], match["between_ms"]) == (len(f" {secret}"), True, 9000)
    for form in ("table", "json", "html", "markdown", "csv", "sarif"):
        ran = run_kvfence("scan", path, "--format", form)
        assert "Quillfeather" not in ran.out + ran.err
