"""A launch command and a log are one node where exactly one can be it, and two, with a note, where not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.facts.fact import Fact, NodeFacts
from kvfence.facts.merge import merged
from kvfence.findings.finding import Evidence

ASKED: dict[str, str | int | bool] = {
    "engine": "sglang",
    "role": "prefill",
    "model": "/m",
    "port": 30000,
    "bootstrap_port": 8998,
    "context_length": 1048576,
}
FOUND = {**ASKED, "pool_tokens": 681280}
Value = str | int | bool | None


def _node(
    name: str, file: str, line: int | None, base: dict[str, str | int | bool], facts: dict[str, Value]
) -> NodeFacts:
    values = {name: value for name, value in {**base, **facts}.items() if value is not None}
    return NodeFacts(
        name=name,
        facts={
            key: Fact(value, Evidence(file=file, line=line, text=f"{key} = {value}")) for key, value in values.items()
        },
    )


def command(name: str = "run", file: str = "run.sh", **facts: Value) -> NodeFacts:
    return replace(_node(name, file, 3, ASKED, facts), planned=True)


def log(name: str = "p0", **facts: Value) -> NodeFacts:
    return _node(name, f"{name}.log", 57, FOUND, facts)


def live(at: str = "10.0.0.5:30000", **facts: Value) -> NodeFacts:
    return _node(at, f"http://{at}/server_info", None, FOUND, facts)


def test_the_one_command_that_fits_joins_the_log():
    """One node under the log's name: what both say has both places, what only the command says is a fact of it."""
    (node,), notes = merged([command(mem_fraction="0.8"), log()])
    assert (node.name, node.planned, node.differing, notes) == ("p0", False, (), [])
    assert [seen.place for seen in node.evidence("port")] == ["p0.log:57", "run.sh:3"]
    assert (node.number("pool_tokens"), node.text("mem_fraction")) == (681280, "0.8")


def test_the_log_is_what_is_and_the_command_what_was_asked():
    """Where they differ the log's value is the node's, and the command's is kept beside it."""
    (node,), _notes = merged([log(context_length=131072, kv_checksum=False), command(kv_checksum=True)])
    assert (node.number("context_length"), node.fact("kv_checksum")) == (
        131072,
        log(kv_checksum=False).fact("kv_checksum"),
    )
    told = [(one.name, one.kept.value, one.other.value, one.other.seen.file) for one in node.differing]
    assert told == [("context_length", 131072, 1048576, "run.sh"), ("kv_checksum", False, True, "run.sh")]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"kv_dtype": "fp8_e4m3"}, {"kv_dtype": "float8_e4m3fn"}),
        ({"mem_fraction": "0.9"}, {"mem_fraction": "0.90"}),
        ({"attention_backend": "FLASHINFER"}, {"attention_backend": "flashinfer"}),
        ({"host": "0.0.0.0"}, {"host": "127.0.0.1"}),
    ],
    ids=["KV type", "fraction", "backend", "host"],
)
def test_another_spelling_is_no_difference(asked: dict[str, Value], found: dict[str, Value]):
    """What an engine prints in other letters than it is asked for in means the same."""
    (node,), _notes = merged([command(**asked), log(**found)])
    assert node.differing == ()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"kv_dtype": "fp8_e4m3"}, {"kv_dtype": "fp8_e5m2"}),
        ({"mem_fraction": "0.9"}, {"mem_fraction": "0.09"}),
        ({"draft_model": "/D"}, {"draft_model": "/d"}),
    ],
    ids=["KV type", "fraction", "a path"],
)
def test_another_value_is_a_difference(asked: dict[str, Value], found: dict[str, Value]):
    """Spelling is forgiven only where it means nothing."""
    (node,), _notes = merged([command(**asked), log(**found)])
    assert [one.name for one in node.differing] == [*asked]


@pytest.mark.parametrize("name", ["engine", "role", "model", "port", "bootstrap_port"])
def test_another_identity_is_another_server(name: str):
    """A command and a log that differ in what a server is are two, and no note says otherwise."""
    other: dict[str, Value] = {name: "vllm" if name == "engine" else "decode" if name == "role" else 9}
    nodes, notes = merged([command(**other), log()])
    assert (len(nodes), notes) == (2, [])


@pytest.mark.parametrize("name", ["role", "model", "port"])
def test_what_one_of_them_does_not_say_leaves_it_open(name: str):
    """Without a name to go by, role and model and port must all be said: else two nodes and a note."""
    for pair in ([command(**{name: None}), log()], [command(), log(**{name: None})]):
        nodes, notes = merged(pair)
        assert nodes == pair
        assert notes == [("run", "it may be what started p0: nothing decides it, so they are reported apart")]


def test_two_replicas_with_the_same_flags_and_one_log_stay_apart():
    """Both commands fit the log: neither is it, and both say so."""
    nodes, notes = merged([command("run:3"), command("run:9"), log()])
    assert [node.name for node in nodes] == ["run:3", "run:9", "p0"]
    assert [name for name, _why in notes] == ["run:3", "run:9"]


def test_one_command_and_two_logs_without_its_name_stay_apart():
    """Which of the two it started is not known."""
    nodes, ((name, why),) = merged([command(), log("a"), log("b")])
    assert (len(nodes), name) == (3, "run")
    assert "what started a, b: nothing decides it" in why


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("prefill", "prefill"),
        ("prefill", "prefill-0"),
        ("prefill", "prefill-0-1"),
        ("prefill", "prefill-7d9f8b6c5d-x2k4q"),
        ("prefill/server", "prefill-7d9f8b6c5d-x2k4q"),
        ("prefill", "prefill-0#2"),
        ("dir/prefill.sh", "logs/prefill.log"),
        ("prefill (run.yaml)", "prefill-1 (all.log)"),
        ("prefill.sh", "prefill.log.1"),
    ],
)
def test_a_name_decides(asked: str, found: str):
    """A pod, a container or a file called as the command is, or as its replicas are, is its, though no port says so."""
    nodes, notes = merged([command(asked, port=None), log(found, port=None), log("other-0", port=None)])
    assert [node.name for node in nodes] == [found, "other-0"]
    assert (nodes[0].differing, notes) == ((), [])


@pytest.mark.parametrize("found", ["prefill-router-0", "prefiller", "prefill-", "my-prefill", "prefill-a-b-c"])
def test_a_name_that_only_begins_alike_decides_nothing(found: str):
    """Something else may stand behind the same word."""
    nodes, _notes = merged([command("prefill", port=None), log(found, port=None)])
    assert len(nodes) == 2


def test_one_command_started_every_replica_that_has_its_name():
    """A Deployment's command is each of its pods'; a third log without its name is another server's."""
    pods = [log("d-7d9f8b6c5d-x2k4q"), log("d-7d9f8b6c5d-zz9pl"), log("e-0")]
    nodes, notes = merged([command("d", mem_fraction="0.8"), *pods])
    assert [(node.name, node.text("mem_fraction")) for node in nodes] == [
        ("d-7d9f8b6c5d-x2k4q", "0.8"),
        ("d-7d9f8b6c5d-zz9pl", "0.8"),
        ("e-0", None),
    ]
    assert notes == []


def test_two_commands_of_one_name_are_told_apart_by_their_ports():
    """Where a name fits several, the rest of the identity decides."""
    nodes, notes = merged(
        [command("d", "a.yaml", port=1), command("d", "b.yaml", port=2), log("d-0", port=2), log("d-1", port=1)]
    )
    files = {node.name: node.facts["port"].also[0].file for node in nodes}
    assert (files, notes) == ({"d-0": "b.yaml", "d-1": "a.yaml"}, [])


def test_the_same_name_with_another_identity_is_told():
    """A log called like the command, of another model: two nodes, and the note names what differs."""
    nodes, notes = merged([command("prefill"), log("prefill-0", model="/other")])
    assert len(nodes) == 2
    assert notes == [
        ("prefill", "prefill-0 is called like it and has another model, so they are reported apart"),
    ]


def test_an_earlier_start_is_not_joined():
    """A command is compared with the last start in a log, not with those before it."""
    earlier = replace(log("p0#1", context_length=1), superseded=True)
    nodes, _notes = merged([earlier, log("p0#2"), command()])
    assert nodes[0] == earlier
    assert len(nodes) == 2
    assert nodes[1].evidence("port")[-1].file == "run.sh"


def test_what_three_sources_say_is_judged_by_the_running_server():
    """Endpoint, log, command of one server: the live value is the node's, each other value stands beside it."""
    (node,), _notes = merged(
        [command(context_length=3, tp_size=8), log(context_length=2, tp_size=8), live(context_length=1)]
    )
    assert node.number("context_length") == 1
    assert node.number("tp_size") == 8
    assert sorted((one.kept.value, one.other.value) for one in node.differing) == [(1, 2), (1, 3)]


def test_a_command_that_the_running_server_obeys_disagrees_with_the_log_alone():
    """The log is old: only its value differs from what serves."""
    (node,), _notes = merged([command(context_length=1), log(context_length=2), live(context_length=1)])
    assert [(one.kept.value, one.other.value) for one in node.differing] == [(1, 2)]


@given(
    st.lists(
        st.sampled_from(
            [
                command(),
                command("p0", "p0.yaml"),
                command("d", "d.yaml", port=None),
                log(),
                log("d-0"),
                log("d-1", port=1),
                log(role="decode"),
                log(role=None),
                live(),
                live("b:1"),
                replace(log("p9"), superseded=True),
            ]
        ),
        max_size=7,
    )
)
def test_no_place_is_lost_and_none_is_invented(nodes: list[NodeFacts]):
    """Whatever is given, every place still stands in some node, and no node holds what its sources do not say."""
    result, _notes = merged(nodes)
    places = {seen for node in result for name in node.facts for seen in node.evidence(name)}
    places |= {one.other.seen for node in result for one in node.differing}
    given_places = {fact.seen for node in nodes for fact in node.facts.values()}
    not_compared = {fact.seen for node in nodes for name, fact in node.facts.items() if name == "host"}
    assert given_places - not_compared <= places <= given_places
    assert len(result) <= len(nodes)


@given(st.permutations([command("run:3", port=1), command("run:9", port=2), log("a", port=2), log("b", port=1)]))
def test_the_order_of_the_targets_decides_nothing(nodes: list[NodeFacts]):
    """The same pairs are joined, however they are named on the command line."""
    result, notes = merged(nodes)
    assert sorted((node.name, node.number("port")) for node in result) == [("a", 2), ("b", 1)]
    assert (all(node.facts["model"].also for node in result), notes) == (True, [])
