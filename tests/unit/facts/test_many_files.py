"""Folders of what deploys: launch files, logs and saved answers side by side, and what is none of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kvfence.audit import inspect
from kvfence.facts.target import read_target
from kvfence.findings.verdict import Verdict
from support.audit_logs import HEADLINE, INCIDENT, UNIFIED
from support.launch_corpus import LAUNCH

CONFIG_MAP = "kind: ConfigMap\napiVersion: v1\ndata: {a: b}\n"
COMMAND = (
    "python3 -m sglang.launch_server --model-path /models/echo-2l --disaggregation-mode prefill --page-size 1 "
    "--port 31001 --disaggregation-bootstrap-port 31998 --context-length 512 --kv-canary none\n"
)


def _written(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return str(folder)


@pytest.mark.parametrize("pattern", ["", "/*"], ids=["folder", "pattern"])
def test_every_launch_file_of_a_folder_is_read_as_if_it_were_named(tmp_path: Path, pattern: str):
    """The whole corpus of them: the same facts of as many nodes as one by one, and the same gaps."""
    for path in LAUNCH:
        shutil.copy(path, tmp_path / path.name)
    whole = read_target(f"{tmp_path}{pattern}")
    apart = [read_target(str(path)) for path in sorted(tmp_path.iterdir())]
    assert [node.facts for node in whole.nodes] == [node.facts for reading in apart for node in reading.nodes]
    told = {gap for reading in apart for gap in reading.gaps if reading.nodes}
    assert {gap.split(": ", 1)[1] for gap in whole.gaps} == told
    assert all(gap.startswith(f"{tmp_path}/") for gap in whole.gaps)


def test_what_starts_no_engine_and_what_is_neither_is_counted(tmp_path: Path):
    """Files that are nobody's to judge are named and leave nothing open; hidden ones are not looked at."""
    files = {"run.sh": COMMAND, "map.yaml": CONFIG_MAP, "clean.sh": "rm -r x\n", "README.md": "x", "a/model.bin": "x"}
    reading = read_target(_written(tmp_path, {**files, ".git/x.yaml": COMMAND, ".git/HEAD": "x", ".env": "x"}))
    assert [node.name for node in reading.nodes] == ["run"]
    assert reading.gaps == ()
    assert reading.notes == (
        "no command that starts SGLang or vLLM stands in 2 files (clean.sh, map.yaml)",
        "named neither like a log nor like a launch file, so not read: 2 files (README.md, a/model.bin)",
    )


def test_many_of_them_are_counted_and_few_are_named(tmp_path: Path):
    """The line stays one line."""
    reading = read_target(_written(tmp_path, {"run.sh": COMMAND, **{f"{at:04}.md": "x" for at in range(1234)}}))
    (note,) = reading.notes
    assert note.endswith("1,234 files (0000.md, 0001.md, 0002.md, 0003.md, 0004.md, …)")


def test_a_log_of_which_nothing_was_recognised_leaves_the_folder_open(tmp_path: Path):
    """A clean log beside one that nobody understood is not a clean deployment."""
    clean = f"{UNIFIED}\n{HEADLINE.format(rank='', pool=512, context=512)}\n"
    assert inspect([_written(tmp_path, {"a.log": clean})]).verdict is Verdict.CLEAN
    result = inspect([_written(tmp_path, {"b.log": "Dear sir,\n"})])
    assert result.verdict is Verdict.UNKNOWN
    assert "recognised in 1 file (b.log)" in " ".join(gap.why for gap in result.not_checked)


def test_a_script_and_the_log_of_what_it_started_are_one_node(tmp_path: Path):
    """In one folder and under one name, as if both were named."""
    shutil.copy(INCIDENT / "sglang-0.5.19-prefill.log", tmp_path / "prefill.log")
    result = inspect([_written(tmp_path, {"prefill.sh": COMMAND})])
    assert len(result.nodes) == 1
    assert {Path(seen.file).name for seen in result.nodes[0].sources.values()} >= {"prefill.log"}


def test_scripts_of_one_name_are_told_apart_by_their_folders(tmp_path: Path):
    """`prefill/start.sh` and `decode/start.sh` are two nodes with two names."""
    files = {"prefill/start.sh": COMMAND, "decode/start.sh": COMMAND.replace("mode prefill", "mode decode")}
    nodes = read_target(_written(tmp_path, files)).nodes
    assert [(node.name, node.text("role")) for node in nodes] == [
        ("decode/start", "decode"),
        ("prefill/start", "prefill"),
    ]


def test_a_saved_answer_in_a_folder_is_one(tmp_path: Path):
    """Files of `curl …/server_info` are read in a folder as they are when they are named."""
    for role in ("prefill", "decode"):
        shutil.copy(INCIDENT / f"sglang-0.5.19-{role}.server_info.json", tmp_path / f"{role}.json")
    nodes = read_target(str(tmp_path)).nodes
    assert [(node.name, node.number("pool_tokens")) for node in nodes] == [("decode", 512), ("prefill", 128)]


def test_a_broken_launch_file_is_a_gap_and_not_the_end(tmp_path: Path):
    """What is no YAML is told with its name; the script beside it is read."""
    reading = read_target(_written(tmp_path, {"run.sh": COMMAND, "broken.yaml": "a: [1,\n- }\n"}))
    assert [node.name for node in reading.nodes] == ["run"]
    assert "broken.yaml" in " ".join(reading.gaps)


def test_what_is_no_plain_file_is_never_opened(tmp_path: Path):
    """A pipe that is named like a log would wait for ever; a link to nothing is counted as well."""
    os.mkfifo(tmp_path / "a.log")
    (tmp_path / "gone.sh").symlink_to(tmp_path / "nowhere")
    reading = read_target(_written(tmp_path, {"run.sh": COMMAND}))
    assert reading.notes == ("named neither like a log nor like a launch file, so not read: 2 files (a.log, gone.sh)",)
