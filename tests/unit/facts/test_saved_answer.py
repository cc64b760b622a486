"""A `/server_info` that somebody saved, as a file or on standard input, says what the server itself says."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.errors import TargetError
from kvfence.facts.saved_answer import Reread, saved_nodes
from kvfence.facts.target import read_target

ANSWER = {
    "version": "0.5.19",
    "disaggregation_mode": "prefill",
    "max_total_num_tokens": 128,
    "max_req_input_len": 122,
    "context_length": 512,
    "model_path": "/models/one",
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_saved_answer_is_a_node_called_like_its_file(tmp_path, indent):
    """Whether it was printed in one line or by a pretty-printer."""
    path = tmp_path / "prefill-0.json"
    path.write_text(json.dumps(ANSWER, indent=indent))
    (node,) = read_target(str(path)).nodes
    assert (node.name, node.text("role"), node.number("pool_tokens"), node.number("context_length")) == (
        "prefill-0",
        "prefill",
        128,
        512,
    )
    assert node.facts["pool_tokens"].seen.file == str(path)


def test_lines_of_json_are_a_log_and_none_is_lost(tmp_path):
    """The first line is an object with the very names, and the second one decides that this is no saved answer."""
    path = tmp_path / "pod.log"
    line = "max_total_num_tokens=512, chunked_prefill_size=2048, max_prefill_tokens=16384, context_len=512"
    entries = [{"log": json.dumps(ANSWER), "stream": "stdout"}, {"log": f"[2026-12-01 13:18:54] {line}\n"}]
    path.write_text("\n".join(json.dumps(entry) for entry in entries) + "\n")
    (node,) = read_target(str(path)).nodes
    assert node.number("pool_tokens") == 512


@pytest.mark.parametrize("content", [b"{", b"{}", b'{"a": 1}', b"[]", b"{" * 100_000, b'{"x": ' * 50_000, b"\xff{"])
def test_what_is_no_such_answer_gives_no_node(content):
    """And raises nothing."""
    assert saved_nodes(content, file="f", name="n") == ()


@given(content=st.binary(max_size=300), taken=st.integers(0, 300), sizes=st.lists(st.integers(1, 60), min_size=20))
def test_nothing_is_lost_between_what_was_taken_and_the_rest(content, taken, sizes):
    """However it is read on."""
    source = io.BytesIO(content)
    again = Reread(source.read(taken), source)
    assert b"".join(again.read(size) for size in (*sizes, *[60] * 10)) == content[: sum(sizes) + 600]


def test_a_file_that_fails_in_the_first_read_is_one_line():
    """A bad disk, or a mount that is gone."""
    with pytest.raises(TargetError, match="reading it failed"):
        read_target("/proc/self/mem")


def test_an_address_without_a_scheme_is_told_how_to_write_it():
    """It looks like a file that is not there."""
    with pytest.raises(TargetError, match=r"as http://10\.0\.0\.5:30000"):
        read_target("10.0.0.5:30000")
