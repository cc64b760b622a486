"""Shell as it is written: what words become, and what only the run knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.facts.launch.shell import read_script
from support.launch_corpus import only_values, written

START = "python3 -m sglang.launch_server --model-path /m"
UNQUOTED = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Z")), min_size=1)


def _words(script: str) -> list[str]:
    (command,) = read_script(script).commands
    return [word.text for word in command.words]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("run a\\\n b", ["run", "a", "b"]),
        ("run 'a b' \"c d\"e", ["run", "a b", "c de"]),
        ("run a # b", ["run", "a"]),
        ("run a#b", ["run", "a#b"]),
        ('X=1; run $X ${X} "$X"', ["run", "1", "1", "1"]),
        ('X="a b"; run $X', ["run", "a", "b"]),
        ('X="a b"; run "$X"', ["run", "a b"]),
        ('run ${X:-3} ${Y:-a b} "${Z:-c d}"', ["run", "3", "a", "b", "c d"]),
        ("X=; run ${X:-3} ${X-4}.", ["run", "3", "."]),
        ("A=(x 'y z'); A+=(w); run \"${A[@]}\"", ["run", "x", "y z", "w"]),
        ("run >out 2>&1 <in a", ["run", "a"]),
        ('run \'{"a": "\'"b"\'"}\'', ["run", '{"a": "b"}']),
        ("X=1\nX=2\nrun $X", ["run", "2"]),
        ("export X=1 Y=2; run $X$Y", ["run", "12"]),
        ("run ${X:=5} $X", ["run", "5", "5"]),
        ("run ''", ["run", ""]),
    ],
)
def test_words_are_what_a_shell_makes_of_them(script: str, words: list[str]):
    """Quotes, continuations, comments, redirections, variables, defaults and arrays."""
    assert _words(script) == words


@pytest.mark.parametrize("given_value", ["$TP", "${TP}", "$(nproc)", "`nproc`", "$((4 * 2))", "$1", "${TP:?}"])
def test_what_only_the_run_knows_is_no_fact(tmp_path: Path, given_value: str):
    """A value from outside is not claimed, and the reading says which."""
    reading = written(tmp_path, f"{START} --tp-size {given_value}\n", "run.sh")
    assert "tp_size" not in only_values(reading)
    assert any("--tp-size" in gap for gap in reading.gaps)


@pytest.mark.parametrize("more", ['"$@"', "$EXTRA", "${ARGS[@]}", "$(cat flags)"])
def test_no_default_is_claimed_where_arguments_may_follow(tmp_path: Path, more: str):
    """What may still be added may be the very flag that is missing."""
    found = only_values(written(tmp_path, f"{START} --page-size 16 --enable-metrics {more}\n", "run.sh"))
    assert found["page_size"] == 16
    assert not {"role", "checks", "tp_size", "kv_checksum", "host"} & found.keys()


def test_a_default_of_a_variable_is_taken_and_told(tmp_path: Path):
    """`${X:-8}` gives 8 and a gap that names X."""
    reading = written(tmp_path, START + " --tp ${TP:-8}\n", "run.sh")
    assert only_values(reading)["tp_size"] == 8
    assert any("TP" in gap and "defaults" in gap for gap in reading.gaps)


@pytest.mark.parametrize(
    ("before", "tp"),
    [
        ('if [ -n "$A" ]; then TP=4; fi', None),
        ('TP=8\nif [ -n "$A" ]; then TP=4; fi', None),
        ('TP=8\nif [ -n "$A" ]; then TP=8; fi', 8),
        ("TP=8\ncase $1 in\n  --tp) TP=$2 ;;\nesac", 8),
        ('[ -n "$A" ] && TP=4', None),
        ("set_up() { TP=4; }\nTP=8", 8),
        ("for TP in 1 2; do true; done", None),
        ("TP=8\nread TP", None),
    ],
)
def test_conditions_are_not_decided(tmp_path: Path, before: str, tp: int | None):
    """A variable that is one value or another is not known; one that may be overridden keeps its own."""
    assert only_values(written(tmp_path, f"{before}\n{START} --tp $TP\n", "run.sh")).get("tp_size") == tp


@pytest.mark.parametrize(
    "line",
    [
        f"echo {START}",
        f"# {START}",
        f"cat <<EOF\n{START}\nEOF",
        f"cat <<-'EOF'\n{START}\n\tEOF",
        "pkill -f sglang.launch_server",
        "pip install sglang vllm",
        "vllm serve --help",
        f"X='{START}'",
    ],
)
def test_a_server_that_is_only_mentioned_is_not_started(tmp_path: Path, line: str):
    """Text about a command is no command."""
    assert written(tmp_path, f"#!/bin/sh\n{line}\ntrue\n", "run.sh").nodes == ()


@pytest.mark.parametrize(
    "line",
    [
        START,
        f"exec {START}",
        f"env A=b {START}",
        f"A=b nohup {START} &",
        f"bash -c '{START}'",
        f'ssh gpu-1 "{START}"',
        f"numactl -N 0 {START}",
        f"cd /x && {START} | tee log",
        "docker run --rm image python3 -m sglang.launch_server --model-path /m",
        "sglang serve --model-path /m",
        "python /opt/sglang/launch_server.py --model-path=/m",
    ],
)
def test_a_server_is_found_behind_what_starts_it(tmp_path: Path, line: str):
    """Wrappers of any kind stand before the server."""
    found = only_values(written(tmp_path, line + "\n", "run.sh"))
    assert (found["engine"], found["model"], found["role"]) == ("sglang", "/m", "unified")


def test_servers_of_one_script_are_told_apart_by_their_lines(tmp_path: Path):
    """Two servers started with & are two nodes."""
    reading = written(tmp_path, f"{START} --port 1 &\n{START} --port 2 &\nwait\n", "pd.sh")
    assert [(node.name, node.number("port")) for node in reading.nodes] == [("pd:1", 1), ("pd:2", 2)]


def test_a_unit_is_read(tmp_path: Path):
    """ExecStart with continuations, Environment, and a file of variables that was not read."""
    unit = (
        '[Service]\nEnvironment="TP=4" HOST=127.0.0.1\nEnvironmentFile=/etc/sglang\n'
        "ExecStart=-/usr/bin/python3 -m sglang.launch_server --model-path /m \\\n  --tp ${TP} --host ${HOST}\n"
    )
    reading = written(tmp_path, unit, "sglang.service")
    found = only_values(reading)
    assert (found["tp_size"], found["host"]) == (4, "127.0.0.1")
    assert any("EnvironmentFile" in gap for gap in reading.gaps)


def test_settings_files_stand_below_the_command(tmp_path: Path):
    """What `--config` sets counts where the command says nothing; a file that is not there is a gap, and no default."""
    (tmp_path / "c.yaml").write_text("tp-size: 4\npage-size: 64\nallow-auto-truncate: true\nhost: 10.0.0.1\n")
    found = only_values(written(tmp_path, f"{START} --config c.yaml --tp 8\n", "run.sh"))
    assert (found["tp_size"], found["page_size"], found["allow_auto_truncate"]) == (8, 64, True)
    reading = written(tmp_path, f"{START} --config gone.yaml\n", "run.sh")
    assert "role" not in only_values(reading)
    assert any("gone.yaml" in gap for gap in reading.gaps)


def test_a_key_is_a_fact_and_no_text(tmp_path: Path):
    """That a key is asked for is known; the key is shown nowhere."""
    reading = written(tmp_path, f"{START} --api-key sk-secret-value-123 --tp $X\n", "run.sh")
    (node,) = reading.nodes
    assert node.facts["api_key"].value is True
    assert "sk-secret-value" not in repr(reading)


@given(st.lists(UNQUOTED, max_size=5))
def test_any_words_in_single_quotes_come_back(words: list[str]):
    """Quoted as a shell quotes them, words are what they were."""
    from shlex import join  # noqa: PLC0415 — the inverse that it is held against

    assert _words(join(["run", *words])) == ["run", *words]
