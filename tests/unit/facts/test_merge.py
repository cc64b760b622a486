"""A log and an endpoint of one node are one node where that is decided, and two where it is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.facts.fact import Fact, NodeFacts
from kvfence.facts.merge import asked_once, merged
from kvfence.facts.reading import Reading
from kvfence.findings.finding import Evidence

PREFILL: dict[str, str | int | bool] = {
    "engine": "sglang",
    "role": "prefill",
    "model": "/m",
    "port": 30000,
    "pool_tokens": 681280,
    "context_length": 1048576,
}


def _node(name: str, file: str, line: int | None, **facts: str | int | bool | None) -> NodeFacts:
    values = {name: value for name, value in {**PREFILL, **facts}.items() if value is not None}
    return NodeFacts(
        name=name,
        facts={
            key: Fact(value, Evidence(file=file, line=line, text=f"{key} = {value}")) for key, value in values.items()
        },
    )


def live(at: str = "10.0.0.5:30000", **facts: str | int | bool | None) -> NodeFacts:
    return _node(at, f"http://{at}/server_info", None, **facts)


def logged(name: str = "p0", **facts: str | int | bool | None) -> NodeFacts:
    return _node(name, f"{name}.log", 57, **facts)


def test_what_both_say_keeps_both_places():
    """One node, under both names, and evidence that names the address and the line."""
    (node,), apart = merged([live(), logged()])
    assert node.name == "p0 (10.0.0.5:30000)"
    assert [seen.file for seen in node.evidence("pool_tokens")] == ["http://10.0.0.5:30000/server_info", "p0.log"]
    assert (node.differing, apart) == ((), [])


def test_what_they_do_not_agree_on_is_kept_beside_the_live_value():
    """The running server's pool is the node's, the log's is kept as what differs."""
    (node,), _apart = merged([logged(pool_tokens=2040000), live()])
    (differing,) = node.differing
    assert node.number("pool_tokens") == 681280
    assert (differing.name, differing.kept.value, differing.other.value) == ("pool_tokens", 681280, 2040000)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (live(), logged(role="decode")),
        (live(), logged(port=30001)),
        (live(), logged(model="/other")),
        (live(), logged(engine="vllm")),
        (live(host="10.0.0.5"), logged(host="10.0.0.6")),
        (live(port=None), logged(port=None, pool_tokens=1)),
        (live("h:1", port=None), logged(port=2, pool_tokens=1)),
        (live(port=None, role=None), logged(port=None)),
        (live(port=None, bootstrap_port=1), logged(port=None, bootstrap_port=2)),
        (live(), replace(logged(), superseded=True)),
    ],
    ids=[
        "role",
        "port",
        "model",
        "engine",
        "host",
        "pool without port",
        "other port",
        "no role",
        "bootstrap port",
        "superseded",
    ],
)
def test_what_is_not_decided_stays_apart(one: NodeFacts, other: NodeFacts):
    """Something of their identity differs, or nothing that is one server's own agrees: two nodes."""
    nodes, _apart = merged([one, other])
    assert nodes == [one, other]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (live(port=None), logged(port=None)),
        (live("h:30000", port=None), logged(pool_tokens=1)),
        (live("pod-0:8000", port=None), logged("pod-0", port=None, pool_tokens=1)),
        (live(host="0.0.0.0"), logged(host="10.0.0.6")),
        (live(role=None), logged()),
        (live(bootstrap_port=31998), logged(bootstrap_port=8998)),
    ],
    ids=[
        "all the same",
        "port of the address",
        "name of the host",
        "any host",
        "role in one",
        "another bootstrap port",
    ],
)
def test_what_is_decided_is_one(one: NodeFacts, other: NodeFacts):
    """A port, a host's name, or role and pool and context together decide it."""
    assert len(merged([one, other])[0]) == 1


def test_two_logs_that_fit_are_not_guessed_between():
    """A replica's log fits as well: nothing is joined, and the reader is told between whom it is open."""
    nodes, apart = merged([live(), logged("p0"), logged("p1")])
    assert len(nodes) == 3
    assert apart == [("10.0.0.5:30000", "it may be the node of p0, p1: nothing decides it, so they are reported apart")]


def test_a_log_a_launch_command_and_a_bootstrap_server_join_one_node():
    """Of each kind one may be of the same server."""
    asked = _node("run.sh", "run.sh", 3, pool_tokens=None, mem_fraction="0.8")
    route = live("10.0.0.5:8998", port=None, pool_tokens=None, context_length=None, model=None, bootstrap_port=8998)
    (node,), _apart = merged([asked, live(bootstrap_port=8998), route, logged()])
    assert node.name == "p0 (10.0.0.5:30000)"
    assert node.text("mem_fraction") == "0.8"
    assert len(node.evidence("role")) == 4


def test_a_server_that_is_named_twice_is_one():
    """Named by the user and by its router, or with and without /v1: one node."""
    readings = [("http://10.0.0.5:30000", Reading((live(),), ())), ("http://10.0.0.9", Reading((live(),), ()))]
    assert [reading.nodes for _target, reading in asked_once(readings)] == [(live(),), ()]


def test_what_only_the_router_says_of_a_server_is_kept():
    """A role that the worker does not tell itself stays, and the nodes of one server stay apart."""
    silent, known = live(role=None), live()
    readings = [("worker", Reading((silent, live("other:1")), ())), ("router", Reading((known,), ()))]
    first, second = (reading.nodes for _target, reading in asked_once(readings))
    assert [node.text("role") for node in first] == ["prefill", "prefill"]
    assert second == ()


@given(
    st.lists(st.sampled_from([live(), live("b:1"), logged(), logged("p1", port=1), logged(role="decode")]), max_size=5)
)
def test_no_node_and_no_fact_is_lost(nodes: list[NodeFacts]):
    """Whatever is given, every log's name and every place is still there, in one node or another."""
    result, _apart = merged(nodes)
    places = {seen.file for node in result for name in node.facts for seen in node.evidence(name)}
    places |= {one.other.seen.file for node in result for one in node.differing}
    assert places == {fact.seen.file for node in nodes for fact in node.facts.values()}
