"""Every log of the corpus, read as it stands, wrapped as collectors wrap it, and cut off anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.facts.fact import Kind
from kvfence.facts.read_log import read_log
from kvfence.facts.target import read_target
from support.audit_logs import INCIDENT, LOGS, WRAPPINGS, Wrapping, body, header_facts, only_node, values, wrapped

NEVER_IN_THESE = ("engine_version",)


def test_the_corpus_is_there():
    """The corpus holds the twelve logs that the readers were first written against, and those of public issues."""
    assert len(LOGS) == 34


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_log_gives_exactly_the_facts_of_its_header(log: Path):
    """A log gives each fact that its header names and no other; `?` is what a reader must not think it knows."""
    expected = {name: value for name, value in header_facts(log).items() if value != "?"}
    (node,) = read_target(str(log)).nodes
    found = {name: str(fact.value) for name, fact in node.facts.items() if name != "engine"}
    assert found == expected


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_fact_stands_where_its_evidence_says(log: Path):
    """The line that a fact names holds the text that it names, or for a setting, its name."""
    lines = log.read_text("utf-8").splitlines()
    (node,) = read_target(str(log)).nodes
    for fact in node.facts.values():
        words = fact.seen.text.removeprefix("server_args: ").removeprefix("config: ").split()
        assert fact.seen.file == str(log)
        line = lines[fact.seen.line - 1].replace("\x1b", "")
        assert (
            "whole, without" in fact.seen.text
            or "printed as" in fact.seen.text
            or words[0] in line
            or ("without --disaggregation-mode" in fact.seen.text and "launch_server" in line)
        )


@pytest.mark.parametrize("wrapping", WRAPPINGS, ids=lambda wrapping: wrapping.name)
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_wrapping_changes_no_fact(log: Path, wrapping: Wrapping, tmp_path: Path):
    """A collector's wrapping changes the name of the node and nothing else."""
    text = body(log).decode()
    plain = only_node(tmp_path, text)
    inside = only_node(tmp_path, wrapped(text, wrapping))
    assert values(inside) == values(plain)
    assert inside.name == (wrapping.node or "node")


@pytest.mark.parametrize("role", ["prefill", "decode", "aggregated"])
def test_the_incidents_logs_agree_with_what_the_servers_said(role: str):
    """What the log gives is what the server itself answered to /server_info."""
    truth = json.loads((INCIDENT / f"sglang-0.5.19-{role}.server_info.json").read_text("utf-8"))
    (node,) = read_target(str(INCIDENT / f"sglang-0.5.19-{role}.log")).nodes
    found = values(node)
    assert found["pool_tokens"] == truth["max_total_num_tokens"]
    assert found["role"] == {"null": "unified"}.get(truth["disaggregation_mode"], truth["disaggregation_mode"])
    same = ("max_req_input_len", "context_length", "page_size", "tp_size", "dp_size", "pp_size", "allow_auto_truncate")
    assert {name: found[name] for name in same} == {name: truth[name] for name in same}
    assert found["kv_canary"] == truth["kv_canary"]
    assert found["engine_version_max"] == "0.5.20"
    assert not set(NEVER_IN_THESE) & found.keys()


class _Bytes:
    """A source that gives its bytes in portions of one size."""

    def __init__(self, content: bytes, portion: int) -> None:
        self.rest, self.portion = content, portion

    def read(self, size: int, /) -> bytes:
        taken, self.rest = self.rest[: min(size, self.portion)], self.rest[min(size, self.portion) :]
        return taken


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_log_cut_off_anywhere_claims_nothing_false(log: Path):
    """Whatever a log cut off at any byte still claims, the whole log claims too. At 200 places."""
    whole = body(log)
    (node,) = read_log(_Bytes(whole, 1 << 20), file="f", fallback_name="n").nodes
    ends = range(0, len(whole), max(1, len(whole) // 200))
    readings = (read_log(_Bytes(whole[:end], 1 << 20), file="f", fallback_name="n") for end in ends)
    for shorter in (shorter for cut in readings for shorter in cut.nodes):
        claimed, true = values(shorter), values(node)
        # A bound that is lower than it could be is not false.
        assert str(claimed.pop("engine_version_min", "0")) <= str(true.get("engine_version_min", "0"))
        assert claimed.items() <= true.items()


@settings(max_examples=30, deadline=None)
@given(log=st.sampled_from(LOGS), portion=st.integers(1, 5000))
def test_how_bytes_arrive_changes_nothing(log: Path, portion: int):
    """A log gives the same facts at the same lines in whatever portions its bytes arrive."""
    whole = body(log)
    assert read_log(_Bytes(whole, portion), file="f", fallback_name="n") == read_log(
        _Bytes(whole, 1 << 20), file="f", fallback_name="n"
    )


WILL_NOT_START = {Kind.WILL_NOT_START: (1, None, 0)}
HAPPENED = {
    "sglang-0.5.23-cpu-prefill": {Kind.REFUSED: (1, 100, 1)},
    "sglang-0.5.23-cpu-unified": {Kind.REFUSED: (1, 300, 1), Kind.PLACEHOLDER: (1, None, 0)},
    "sglang-dsv4-window-cap": {Kind.REFUSED: (1, 20011, 1)},
    "sglang-refused-length": {Kind.REFUSED: (1, 160062, 0)},
    "sglang-small-pool-refusal": {Kind.REFUSED: (1, 3034, 0)},
    "vllm-0.2-v0-too-long": WILL_NOT_START,
    "vllm-0.6-v0-too-long": WILL_NOT_START,
    "vllm-kaito-needs-more": WILL_NOT_START,
    "vllm-v0-qwen-too-small": WILL_NOT_START,
    "vllm-v0-too-small-bare": WILL_NOT_START,
    "vllm-v1-needs-24-gib": WILL_NOT_START,
    "vllm-v1-pp2-estimated": WILL_NOT_START,
    "vllm-nixl-expired-120s": {Kind.RELEASED_UNDRAINED: (3, None, 3)},
    "vllm-nixl-lease-30s": {Kind.RELEASED_UNDRAINED: (1, None, 1), Kind.EXPIRED_READ: (1, None, 1)},
    "vllm-nixl-read-too-late": {Kind.EXPIRED_READ: (1, None, 1)},
}
"""For each kind: how often, the longest prompt, how many requests were named."""


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_log_gives_exactly_what_happened_in_it(log: Path):
    """What a log shows happening is counted, with the longest prompt and the requests that its lines name."""
    (node,) = read_target(str(log)).nodes
    found = {kind: (one.count, one.asked_tokens_max, len(one.requests)) for kind, one in node.happenings.items()}
    assert found == HAPPENED.get(log.stem, {})
