"""A saved answer and a log are one node where that is decided: by their files' names, or by all that they say."""

from __future__ import annotations

from kvfence.audit import inspect
from kvfence.facts.fact import Fact, NodeFacts
from kvfence.facts.saved_and_logged import with_saved
from kvfence.findings.finding import Evidence
from support.audit_logs import INCIDENT

FACTS: dict[str, str | int] = {
    "engine": "sglang",
    "role": "prefill",
    "port": 30_000,
    "pool_tokens": 681_280,
    "page_size": 64,
}


def _node(name: str, line: int | None, **facts: str | int) -> NodeFacts:
    return NodeFacts(
        name=name,
        facts={
            key: Fact(value, Evidence(file=name, line=line, text=f"{key} = {value}"))
            for key, value in {**FACTS, **facts}.items()
        },
    )


def saved(name: str, **facts: str | int) -> NodeFacts:
    return _node(name, None, **facts)


def logged(name: str, **facts: str | int) -> NodeFacts:
    return _node(name, 7, **facts)


def _names(*nodes: NodeFacts) -> list[str]:
    return sorted(node.name for node in with_saved(nodes)[0])


def test_replicas_on_one_port_are_joined_by_the_names_of_their_files():
    """Three pods on port 30000 that say the same: each answer goes to the log that is called like it."""
    answers = [saved("a/p0.json"), saved("a/p1.json"), saved("a/p2.server_info.json")]
    logs = [logged(f"a/p{at}.log") for at in range(3)]
    nodes, apart = with_saved([*answers, *logs])
    assert [node.name for node in nodes] == ["p0", "p1", "p2"]
    assert [node.evidence("pool_tokens")[0].file for node in nodes] == [answer.name for answer in answers]
    assert apart == []


def test_without_names_all_that_they_say_decides_and_only_once():
    """One answer and one log that differ in nothing are one node; with a second such log nothing decides it."""
    assert _names(saved("server_info.json"), logged("p0.log")) == ["p0.log (server_info.json)"]
    nodes, ((name, why),) = with_saved([saved("server_info.json"), logged("p0.log"), logged("p1.log")])
    assert len(nodes) == 3
    assert name == "server_info.json"
    assert "it may be the node of p0.log, p1.log" in why


def test_what_differs_joins_no_files_that_are_called_otherwise():
    """Another page size is another server, for all that the port and the pool agree."""
    assert len(_names(saved("server_info.json"), logged("p0.log", page_size=16))) == 2


def test_files_of_one_name_are_one_server_whose_sources_disagree():
    """Another pool in the answer than in the log: one node keeps both, for a rule to tell; not so with another role."""
    (node,), _apart = with_saved([saved("p0.json", pool_tokens=2_000_000), logged("p0.log")])
    assert (node.number("pool_tokens"), [one.name for one in node.differing]) == (2_000_000, ["pool_tokens"])
    assert len(_names(saved("p0.json", role="decode"), logged("p0.log"))) == 2


def test_the_log_that_a_saved_answer_is_told_to_need_really_helps():
    """Whether named together or as a folder: no worker is there twice, and what the answer lacked is not missing."""
    result = inspect([INCIDENT])
    assert sorted(node.facts["role"] or "" for node in result.nodes) == ["decode", "prefill", "unified"]
    assert not [gap for gap in result.not_checked if gap.decisive]


def test_a_name_that_is_taken_is_not_given_twice():
    """A node may call itself as the files are called."""
    assert _names(saved("p0.json"), logged("p0.log"), logged("p0", port=1)) == ["p0", "p0.log"]
