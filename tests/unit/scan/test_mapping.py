"""A mapping says where what is; one that cannot is one clear line."""

from __future__ import annotations

import json

import pytest

from kvfence.errors import UsageError
from kvfence.scan.mapping import mapping_of
from kvfence.scan.reading.exchanges import exchanges_of
from kvfence.scan.reading.inputs import sources_of
from support.programs import assert_one_clear_line, run_kvfence


def written(folder, text):
    path = folder / "map.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id = ", ["Invalid value"]),
        (b"id = '\xff'", ["utf-8"]),
        ('prompt = "p"', ["response", "answer"]),
        ('answer = "a"', ["request", "prompt"]),
        ('prompt = "p"\nrequest = "r"\nanswer = "a"', ["either request", "prompt"]),
        ('prompt = "p"\nanswer = "a"\ntenant = "t"', ["tenant", "no such field", "user"]),
        ('prompt = 3\nanswer = "a"', ["prompt", "dotted path"]),
        ('prompt = ""\nanswer = "a"', ["prompt", "dotted path"]),
        ('prompt = ["a", 1]\nanswer = "a"', ["prompt", "dotted path"]),
        ('prompt = "p"\nanswer = "a"\nusage = "u"', ["usage", "table"]),
        ('prompt = "p"\nanswer = "a"\n[usage]\ntotal = "t"', ["total", "no such field"]),
        ('"\\u001b[31m" = "x"', ["no such field"]),
        ("a = " + "[" * 5000, []),
    ],
)
def test_a_bad_mapping_is_one_line(tmp_path, text, words):
    """It names the file, what is wrong in it, and what there could be."""
    with pytest.raises(UsageError) as refused:
        mapping_of(written(tmp_path, text))
    said = str(refused.value)
    assert said.startswith("--mapping ")
    assert "map.toml" in said
    assert "\n" not in said
    assert "\x1b" not in said
    assert all(word in said for word in words), said


@pytest.mark.parametrize("target", ["not-there.toml", "."])
def test_a_mapping_that_cannot_be_read_is_wrong_use(tmp_path, target):
    """The program says so in one line, and exits with 2."""
    (tmp_path / "log.jsonl").write_text("{}\n")
    ran = run_kvfence("scan", str(tmp_path / "log.jsonl"), "--mapping", str(tmp_path / target))
    assert_one_clear_line(ran, "--mapping")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--input-format", "mapping"], ["--mapping FILE.toml"]),
        (["--input-format", "plain", "--mapping", "{map}"], ["plain", "give one"]),
    ],
)
def test_a_mapping_and_a_named_format_do_not_go_together(tmp_path, options, words):
    """One of them would be passed over in silence."""
    (tmp_path / "log.jsonl").write_text("{}\n")
    mapping = written(tmp_path, 'prompt = "p"\nanswer = "a"')
    ran = run_kvfence("scan", str(tmp_path / "log.jsonl"), *(one.format(map=mapping) for one in options))
    assert_one_clear_line(ran, *words)


def test_the_program_reads_by_a_mapping(tmp_path):
    """Also what another format would know: what the user says goes before what is guessed."""
    records = [{"id": "r", "request": "no", "response": "no", "p": f"prompt {number}", "a": "x"} for number in range(3)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    mapping = written(tmp_path, 'prompt = "p"\nanswer = "a"')
    ran = run_kvfence("scan", str(tmp_path / "log.jsonl"), "--mapping", mapping, "--format", "json")
    report = json.loads(ran.out)
    assert (report["requests"], report["coverage"]["whole"], report["skipped"]) == (3, 3, 0)
    [source] = sources_of([str(tmp_path / "log.jsonl")], mapping=mapping_of(mapping))
    assert [one.prompt for one in exchanges_of(source)] == ["prompt 0", "prompt 1", "prompt 2"]


def test_columns_may_have_dots_in_their_names(tmp_path):
    """A CSV has no nesting; its columns are named by whole paths, or hold JSON."""
    (tmp_path / "log.csv").write_text('body.in,body\nhello,"{""out"": [""one"", ""two""]}"\n')
    mapping = mapping_of(written(tmp_path, 'prompt = "body.in"\nanswer = "body.out.1"'))
    [source] = sources_of([str(tmp_path / "log.csv")], mapping=mapping)
    assert [(one.prompt, one.answer) for one in exchanges_of(source)] == [("hello", "two")]
