"""Answers of a batch find their requests, in the right batch or in none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from kvfence.scan.exchange import Coverage, Exchange, Unread
from kvfence.scan.reading.exchanges import exchanges_of
from kvfence.scan.reading.inputs import sources_of


def requests(path, *ids, text="of"):
    lines = [{"custom_id": one, "body": {"messages": [{"role": "user", "content": f"{one} {text}"}]}} for one in ids]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def answers(path, *ids):
    body = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}
    lines = [{"custom_id": one, "response": {"status_code": 200, "body": body}, "error": None} for one in ids]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def read(*targets):
    return [[*exchanges_of(source)] for source in sources_of(targets)]


def test_answers_are_joined_with_the_batch_that_has_their_ids(tmp_path):
    """Of two files of requests the one that has more of them; order does not matter."""
    right = requests(tmp_path / "b.jsonl", "1", "2", "3", text="right")
    wrong = requests(tmp_path / "a.jsonl", "1", "9", text="wrong")
    [said, _, _] = read(answers(tmp_path / "out.jsonl", "3", "1", "2"), wrong, right)
    assert [one.prompt for one in said] == ["3 right", "1 right", "2 right"]


def test_answers_that_two_batches_could_have_are_joined_with_none(tmp_path):
    """A prompt of another batch would be a false witness: the prompt is not there, and that is said."""
    some, others = (requests(tmp_path / name, "1", "2", text=name) for name in ("a.jsonl", "b.jsonl"))
    [said, *rest] = read(answers(tmp_path / "out.jsonl", "1", "2"), some, others)
    assert {(one.prompt, one.prompt_coverage) for one in said} == {("", Coverage.OMITTED)}
    assert [[one.answer_coverage for one in other] for other in rest] == [[Coverage.OMITTED] * 2] * 2


def test_a_request_without_an_answer_is_told(tmp_path):
    """The batch expired, or its file of errors is not here."""
    [_, left] = read(answers(tmp_path / "out.jsonl", "1"), requests(tmp_path / "in.jsonl", "1", "2"))
    assert [(one.id, one.prompt, one.answer_coverage) for one in left] == [("2", "2 of", Coverage.OMITTED)]


def test_packed_requests_are_asked_to_be_unpacked(tmp_path):
    """They are looked up by their place, which a packed file has not."""
    plain = requests(tmp_path / "in.jsonl", "1")
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(Path(plain).read_bytes()))
    [said, _] = read(answers(tmp_path / "out.jsonl", "1"), str(tmp_path / "in.jsonl.gz"))
    assert isinstance(said[0], Unread)
    assert "in.jsonl.gz" in said[0].why
    assert "unpack" in said[0].why


def test_every_answer_is_one_exchange(tmp_path):
    """Requests that have one are not told twice."""
    said = [
        one
        for source in read(answers(tmp_path / "out.jsonl", "1", "2"), requests(tmp_path / "in.jsonl", "1", "2"))
        for one in source
    ]
    assert [one.id for one in said if isinstance(one, Exchange)] == ["1", "2"]
