"""Texts in lines of servers' logs come out as they went in, whatever is in them; a broken line ends itself alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.scan.exchange import Coverage, Exchange, Place
from kvfence.scan.formats.catalogue import BY_NAME
from kvfence.scan.formats.reprs import members_at
from kvfence.scan.reading.record import Record
from kvfence.scan.reading.source import Kind, Source

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    ["'", '"', "\\", "', 'x': '", "text='no', out={'text': 'no'}", "Generated response x: output: 'no'", " ... ", "\n"]
)


def exchanges_in(name, *lines):
    source = Source(number=0, target="log", shown="log", kind=Kind.LINES, format=name)
    reader = BY_NAME[name].reader(source)
    said = [
        item
        for number, line in enumerate(lines)
        for item in reader.read(Record(Place(source=0, offset=number, line=number + 1), line))
    ]
    return [item for item in (*said, *reader.rest()) if isinstance(item, Exchange)]


@given(prompt=TEXTS, answer=TEXTS)
def test_a_vllm_log_gives_back_any_text(prompt, answer):
    """`repr` is undone, and nothing in a text is taken for the log's own words."""
    [said] = exchanges_in(
        "vllm",
        f"INFO 08-28 10:00:00 [logger.py:39] Received request r: prompt: {prompt!r}, params: SamplingParams(n=1)",
        f"INFO 08-28 10:00:01 [logger.py:71] Generated response r: output: {answer!r}, finish_reason: stop",
    )
    assert (said.prompt, said.answer, said.finish) == (prompt, answer, "stop")


@given(prompt=TEXTS, answer=TEXTS, before=TEXTS)
def test_an_sglang_log_gives_back_any_text(prompt, answer, before):
    """The same; also with another text in front of it."""
    about = f"GenerateReqInput(rid='r', note={before!r}, text={prompt!r}, input_ids=[1, 2], stream=True)"
    out = f"{{'text': {answer!r}, 'meta_info': {{'finish_reason': {{'type': 'stop'}}, 'prompt_tokens': 3}}}}"
    [said] = exchanges_in("sglang", f"[2026-08-28 10:00:02] Finish: obj={about}, out={out}")
    assert (said.prompt, said.answer, said.prompt_tokens) == (prompt, answer, 3)


@given(pieces=st.lists(TEXTS, min_size=1, max_size=5))
def test_pieces_of_a_stream_are_put_together(pieces):
    """Where the line for the whole of it has a count alone, the answer is made of the pieces."""
    lines = [f"INFO x Generated response r (streaming delta): output: {one!r}, finish_reason: None" for one in pieces]
    whole = (
        "INFO x Generated response r (streaming complete): output: '<streaming_complete: 9 tokens>', finish_reason: x"
    )
    assert [said.answer for said in exchanges_in("vllm", *lines, whole)] == ["".join(pieces)]


@pytest.mark.parametrize("size", [1, 10, 100])
def test_a_line_that_docker_cut_is_put_together(size):
    """Its json-file driver writes an object for each 16 KiB; the end of a line is in the last one."""
    line = f"INFO x [logger.py:39] Received request r: prompt: {'mill ' * 50!r}, params: SamplingParams(n=1)\n"
    cut = [line[at : at + size] for at in range(0, len(line), size)]
    pieces = [{"log": one, "stream": "stdout", "time": "2026-08-28T10:00:00.5Z"} for one in cut]
    [said] = exchanges_in("vllm", *pieces)
    assert (said.prompt, said.place.offset, said.began_ms) == ("mill " * 50, 0, 1_787_911_200_500)


def test_each_choice_of_a_request_is_an_exchange():
    """Two answers to one prompt: both came back to somebody, each at its own line."""
    said = exchanges_in(
        "vllm",
        "INFO x Received request r: prompt: 'p', params: SamplingParams(n=2)",
        "INFO x Generated response r: output: 'one', finish_reason: stop",
        "INFO x Generated response r: output: 'two', finish_reason: stop",
    )
    assert [(one.prompt, one.answer, one.place.offset) for one in said] == [("p", "one", 0), ("p", "two", 2)]


def test_an_answer_that_broke_off_is_cut():
    """Pieces came, and the log ends before the answer does."""
    [said] = exchanges_in("vllm", "INFO x Generated response r (streaming delta): output: 'half', finish_reason: None")
    assert (said.answer, said.answer_coverage, said.status) == ("half", Coverage.CUT, None)


def test_an_sglang_line_in_json_is_found_behind_a_prefix():
    """A logger may put its own words before the object."""
    record = {
        "timestamp": "2026-08-28T10:00:00",
        "event": "request.finished",
        "rid": "r",
        "obj": {"text": "p"},
        "out": {"text": "a", "meta_info": {"finish_reason": {"type": "stop"}}},
    }
    [said] = exchanges_in("sglang", f"[2026-08-28 10:00:00] {json.dumps(record)}")
    assert (said.id, said.prompt, said.answer, said.status) == ("r", "p", "a", 200)


@pytest.mark.parametrize("broken", ["'" + '"' * 1_000_000, "'no end", "(" * 100_000, "{'a': " * 100_000, "[" * 500_000])
def test_a_broken_line_ends_soon(broken):
    """A text without its end, or brackets without theirs: what can be told is told, and no time is lost on it."""
    line = f"[2026-08-28 10:00:02] Finish: obj=GenerateReqInput(rid='r', text={broken}"
    [said] = exchanges_in("sglang", line)
    assert (said.id, said.prompt_coverage) == ("r", Coverage.OMITTED)


def test_members_of_an_object_are_those_of_its_own_level():
    """What stands deeper, or in a text, is none of them."""
    members, end = members_at("X(a='1, b=2', c={'d': 3, 'e': {'f': True}}, g=[1, 2], h=None, i=1.5), rest", 0)
    assert members == {"a": "1, b=2", "c": {"d": 3, "e": {"f": True}}, "i": 1.5}
    assert "X(a='1, b=2', c={'d': 3, 'e': {'f': True}}, g=[1, 2], h=None, i=1.5), rest"[end:] == ", rest"
