import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.errors import UsageError
from kvfence.probe.boundaries import Boundary, stated_in
from kvfence.probe.campaign import Campaign
from kvfence.probe.facts_file import read_facts
from kvfence.probe.lengths import planned
from kvfence.probe.target import Bounds

MILLION = Campaign(seed=1, key=b"key", declared_context=2**20)


def test_the_plan_of_a_million_tokens():
    """A control, quarters of quarters, one length around a page's multiple, both sides of the pool, and the end."""
    bounds = Bounds(boundaries=(Boundary(681_280, "KV pool of prefill-0"),), multiples=(64, 2048))
    plan = planned(MILLION, bounds)
    assert [tokens for tokens, _ in plan] == [
        768, 2048, 8191, 8192, 8193, 32_768, 131_072, 524_288, 681_011, 681_312, 1_048_339, 1_048_640,
    ]  # fmt: skip
    assert dict(plan)[681_312] == "just over the KV pool of prefill-0 681,280"
    assert dict(plan)[8191] == "one less than 128 x 64"


@given(
    declared=st.integers(1024, 2**25),
    depths=st.integers(1, 5),
    limits=st.lists(st.integers(1, 2**25), max_size=4).map(tuple),
    multiples=st.lists(st.integers(1, 10**6), max_size=3).map(tuple),
    factor=st.integers(1, 9),
)
def test_every_plan_rises_from_the_control_and_ends_past_what_is_declared(declared, depths, limits, multiples, factor):
    """Whatever is known: no length twice, none but the last that leaves no room for the answer."""
    campaign = replace(MILLION, declared_context=declared, depths=depths)
    plan = planned(campaign, Bounds(limits=limits, multiples=multiples, sweep_factor=factor))
    tokens = [length for length, _ in plan]
    assert tokens == sorted(set(tokens))
    assert tokens[-2] == campaign.longest < declared < tokens[-1]
    for limit in limits:
        if tokens[0] + 400 < limit < campaign.longest - 32:
            assert any(length + campaign.answer_tokens <= limit for length in tokens)
            assert limit + 32 in tokens


@pytest.mark.parametrize(
    ("said", "figures"),
    [
        ("Input length (1048339 tokens) exceeds the maximum allowed length (681274 tokens).", [681_274]),
        ("This model's maximum context length is 131,072 tokens. However, you requested 1048576 tokens", [131_072]),
        ("error 42 at 12.5 %, see 0.12345 or 1,2,3 or 1234567890123", []),
        ("", []),
    ],
)
def test_a_figure_that_a_refusal_names_is_read(said, figures):
    """SGLang's words and vLLM's; numbers of other kinds are not lengths."""
    assert stated_in([said], between=(100_000, 1_048_339)) == figures


def audit(*nodes):
    return {"schema": 1, "nodes": [{"node": name, "facts": facts, "sources": {}} for name, facts in nodes]}


def test_an_audits_json_says_which_lengths_matter(tmp_path):
    """Pools, limits and pages by node, each length once; what is null, a flag or a page of one token is not taken."""
    path = tmp_path / "audit.json"
    prefill = {"pool_tokens": 681_280, "context_length": 1_048_576, "page_size": 64, "usable_length": None}
    decode = {"pool_tokens": 2_000_000, "context_length": 1_048_576, "page_size": 1, "kv_checksum": True}
    path.write_text(json.dumps(audit(("prefill-0", prefill), ("decode-0", decode))), encoding="utf-8")
    known = read_facts(path)
    assert known.declared_context == 1_048_576
    assert known.pages == (64,)
    assert known.boundaries == (
        Boundary(681_280, "KV pool of prefill-0"),
        Boundary(1_048_576, "context length of prefill-0 and context length of decode-0"),
        Boundary(2_000_000, "KV pool of decode-0"),
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"", "not what `kvfence audit"),
        (b"[1]", "not what `kvfence audit"),
        (b'{"schema": 1, "nodes": [{"node": 3}]}', "not what `kvfence audit"),
        (b"\xff", "not what `kvfence audit"),
        (b'{"schema": 9, "nodes": []}', "schema 9"),
        (b'{"schema": 1, "nodes": [{"node": "a", "facts": {"pool_tokens": "many"}}]}', "no node in it"),
    ],
)
def test_what_is_no_audit_is_one_clear_line(tmp_path, content, words):
    """Missing, empty, another document, another schema, nothing of lengths."""
    path = tmp_path / "audit.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read_facts(path)
