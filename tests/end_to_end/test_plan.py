"""`kvfence plan` as a program: exit codes, the first line, JSON, bad input."""

import json
import sys

import pytest

from kvfence.cli.main import run
from support.plan_models import MODELS
from support.programs import Ran, assert_one_clear_line, run_kvfence

V3 = str(MODELS / "deepseek-v3.json")
ON_H200 = ("--gpu", "h200", "--mem-fraction", "0.88")


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ((), 0, "Fits: "),
        (("--fit", "163840x3"), 0, "Fits, with less than 2 times"),
        (("--fit", "640_000"), 3, "Cannot be told: "),
        (("--fit", "1048576x2"), 1, "Does not fit: "),
        (("--fit", "1048576x2", "--exit-zero"), 0, "Does not fit: "),
    ],
)
def test_the_first_line_and_the_exit_code_say_whether_it_fits(more, code, words):
    """0 fits, 1 does not, 3 cannot be told; by how much stands in the same line."""
    ran = run_kvfence("plan", V3, *ON_H200, *more)
    assert (code, "") == (ran.code, ran.err)
    assert ran.out.startswith(words)


def test_a_plan_that_does_not_fit_names_one_change_and_what_could_be_promised():
    """For who is on call: what to set, with its figure."""
    ran = run_kvfence("plan", V3, *ON_H200, "--fit", "1048576x2")
    assert "Change: --tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes 2" in ran.out
    assert "--context-length " in ran.out


def test_json_has_a_schema_and_nothing_else_on_standard_output(tmp_path):
    """The table goes to standard error then; -o writes either."""
    ran = run_kvfence("plan", V3, *ON_H200, "--role", "prefill", "--format", "json")
    told = json.loads(ran.out)
    assert (told["schema"], told["verdict"], told["family"], told["context"]) == (1, "clean", "MLA", 163840)
    assert told["pool_tokens"]["low"] <= told["pool_tokens"]["likely"] <= told["pool_tokens"]["high"]
    assert "Fits: " in ran.err
    written = tmp_path / "plan.txt"
    run_kvfence("plan", V3, *ON_H200, "-o", str(written))
    assert written.read_text(encoding="utf-8").startswith("Fits: ")


@pytest.mark.parametrize(
    ("content", "more", "word"),
    [
        (None, (), "hub"),
        ("{", (), "not JSON"),
        ("[" * 100_000, (), "not JSON"),
        ("[1]", (), "no object"),
        ("{}", (), "no attention heads"),
        ('{"num_attention_heads": 32}', (), "num_hidden_layers"),
        (
            '{"architectures": ["NewForCausalLM"], "num_attention_heads": 8, "compress_ratios": [4]}',
            (),
            "NewForCausalLM",
        ),
        (V3, ("--tp", "7"), "cannot be split"),
        (V3, ("--tp", "16"), "16 GPUs"),
        (V3, ("--gpu", "h900"), "h900"),
        (V3, ("--mem-fraction", "88"), "--mem-fraction"),
        (V3, ("--fit", "a lot"), "1048576x2"),
        (V3, ("--fit", "0x1"), "1048576x2"),
        (V3, ("--weights-gib", "nan"), "--weights-gib"),
        (V3, ("--tp", "8", "--dp", "3"), "multiple"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path, monkeypatch, capsys, *, content, more, word):
    """What was met, where, and what to do; exit code 2. The program runs in this process, for there are many."""
    file = tmp_path / "config.json"
    if content is not None and content != V3:
        file.write_text(content, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["kvfence", "plan", V3 if content == V3 else str(file), *ON_H200, *more])
    with pytest.raises(SystemExit) as stopped:
        run()
    said = capsys.readouterr()
    assert_one_clear_line(Ran(int(stopped.value.code or 0), said.out, said.err), word)


def test_what_no_family_knows_can_be_given():
    """A model of an unknown family is planned by what its user says one token costs."""
    ran = run_kvfence("plan", V3, *ON_H200, "--kv-bytes-per-token", "1000", "--weights-gib", "600", "--format", "json")
    (kept,) = json.loads(ran.out)["kept"]
    assert (ran.code, kept["token_bytes"]) == (0, 1000)
