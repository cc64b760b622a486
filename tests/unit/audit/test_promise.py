"""The figure that a fix tells to set really ends the finding, on every node of the path."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.audit.deployment import Deployment
from kvfence.audit.promise import fitting_context, path_of, pool_tokens_for
from kvfence.cell.config import start_line
from kvfence.cli.cell_options import CellOptions
from kvfence.core.ids import Role
from kvfence.facts.fact import Fact, NodeFacts
from kvfence.facts.read_log import read_log
from kvfence.facts.target import read_target
from kvfence.findings.finding import Severity
from support.audit_logs import CORPUS
from support.audit_nodes import Value, said_of, sglang, vllm

POOLS = st.integers(min_value=600, max_value=3_000_000)
PAGES = st.sampled_from([1, 16, 64, 128])


@given(POOLS, POOLS, PAGES)
def test_a_context_that_fits_ends_both_findings_and_keeps_its_promise(prefill: int, decode: int, page: int):
    """Set on both, no pool is below it, both refuse at the same length, and prefill has a token and a page to spare."""
    before = [
        sglang(role, pool_tokens=pool - pool % page, page_size=page)
        for role, pool in (("prefill", prefill), ("decode", decode))
    ]
    context = fitting_context(before)
    assert context is not None
    after = [
        sglang(str(node.text("role")), pool_tokens=node.number("pool_tokens"), context_length=context)
        for node in before
    ]
    assert said_of("pool-below-context", *after) == []
    assert said_of("asymmetric-pools", *after) == []
    longest = context - 7
    assert longest == min(node.number("usable_length") or 0 for node in after)
    assert longest + 1 + page <= (before[0].number("pool_tokens") or 0)


def test_the_figure_is_the_smallest_of_the_path():
    """A fix on prefill counts with decode's smaller pool, and not with a worker of another model."""
    prefill, decode = sglang("prefill", pool_tokens=681_280), sglang("decode", pool_tokens=600_000)
    other = sglang("decode", "other", pool_tokens=64_000, model="/models/other")
    assert fitting_context(path_of(prefill, Deployment((prefill, decode, other)))) == 600_000
    (on_prefill,) = [one for one in said_of("pool-below-context", prefill, decode, other) if one.node == "prefill"]
    assert "--context-length 600000 on every node of the path" in on_prefill.fix
    assert "prompts of up to 599,993 tokens are taken then" in on_prefill.fix


def test_the_incident_s_figure_keeps_a_page_back():
    """681,280 tokens in pages of 64: 681,216 can be promised, and 681,209 tokens of prompt are taken."""
    prefill, decode = sglang("prefill", pool_tokens=681_280), sglang("decode")
    (found,) = said_of("pool-below-context", prefill, decode)
    assert "--context-length 681216" in found.fix
    assert "up to 681,209 tokens" in found.fix
    (unequal,) = said_of("asymmetric-pools", prefill, decode)
    assert "--context-length 681216 on prefill and on decode" in unequal.fix
    assert "until the pool holds at least 1,048,640 tokens" in found.fix
    assert "give prefill a pool of at least 1,048,640 tokens" in unequal.fix


@given(POOLS, st.integers(600, 3_000_000), PAGES, st.sampled_from(["prefill", "unified"]))
def test_the_larger_pool_that_is_named_keeps_the_context_and_one_page_less_does_not(
    pool: int, context: int, page: int, role: str
):
    """What `or raise … until the pool holds` names is enough for the longest prompt, and is not more than it takes."""
    node = sglang(role, pool_tokens=pool - pool % page, page_size=page, context_length=context)
    needed = pool_tokens_for(context, node)
    assert (fitting_context([sglang(role, pool_tokens=needed, page_size=page, context_length=context)]) or 0) >= context
    assert (
        fitting_context([sglang(role, pool_tokens=needed - page, page_size=page, context_length=context)]) or 0
    ) < context


@pytest.mark.parametrize("version", ["0.6.6", "0.19.1", "0.32.0"])
@pytest.mark.parametrize("context", [4_096, 29_000, 100_001])
def test_the_larger_pool_that_vllm_is_told_serves_the_context(version: str, context: int):
    """V1 keeps a block back and V0 a hundredth of them: both are in the figure."""
    node = vllm("unified", pool_tokens=1_600, page_size=16, context_length=context, engine_version=version)
    needed = pool_tokens_for(context, node)
    served = replace(node, facts={**node.facts, "pool_tokens": Fact(needed, node.facts["role"].seen)})
    assert (fitting_context([served]) or 0) >= context


@pytest.mark.parametrize(
    ("prefill", "told"),
    [
        ({"pool_tokens": 2_000, "context_length": 4_096}, "give prefill a pool of at least 4,096 tokens, so that"),
        ({"pool_tokens": 9_000, "context_length": 2_048}, "--context-length 4096 on prefill too."),
        (
            {"pool_tokens": 2_000, "context_length": 2_048},
            "--context-length 4096 on prefill too, with a pool of at least 4,096 tokens.",
        ),
    ],
)
def test_what_brings_prefill_up_to_decode_is_what_it_lacks(prefill: dict[str, Value], told: str):
    """A larger pool does nothing for prefill where its context is the shorter one, and decode's pool is no goal."""
    decode = sglang("decode", pool_tokens=70_000, context_length=4_096)
    (found,) = said_of("asymmetric-pools", sglang("prefill", page_size=1, **prefill), decode)
    assert told in found.fix


def test_what_a_real_vllm_chose_for_itself_is_what_fits():
    """0.32.0 with nine blocks of 128 and `--max-model-len auto`: it keeps one block, and starts with 1,024."""
    (prefill,) = read_target(str(CORPUS / "logs" / "vllm-0.32-auto-fit-prefill.txt")).nodes
    assert prefill.number("pool_tokens") == 9 * 128
    assert fitting_context([prefill]) == prefill.number("context_length") == 1024
    told_more = replace(prefill, facts={**prefill.facts, "context_length": Fact(2048, prefill.facts["role"].seen)})
    (found,) = said_of("pool-below-context", told_more)
    assert "--max-model-len 1024 on every node" in found.fix
    assert "until the pool holds at least 2,176 tokens" in found.fix


@given(st.integers(2, 200_000), st.sampled_from([16, 64, 128, 528]), st.integers(0, 15))
def test_vllm_starts_with_the_figure_and_not_with_one_token_more(blocks: int, page: int, over: int):
    """Its check: a sequence of the whole context fits into all blocks but one."""
    node = vllm("prefill", pool_tokens=blocks * page + over, page_size=page, context_length=10**9)
    context = fitting_context([node])
    assert context is not None
    assert -(-context // page) <= blocks - 1 < -(-(context + 1) // page)


@pytest.mark.parametrize(
    ("facts", "fits"),
    [
        ({"pool_tokens": 3_664, "page_size": None}, 3_648),
        ({"pool_tokens": 3_712, "page_size": None, "device": "cpu"}, 3_584),
        ({"pool_tokens": 9_000, "context_length": 2_048, "page_size": 16, "hybrid_kv": True}, 2_048),
        ({"pool_tokens": 1_125, "context_length": 1_000}, 1_000),
        ({"pool_tokens": None, "usable_length": 34_736, "page_size": 16}, 34_736),
        ({"pool_tokens": None, "usable_length": 34_736, "page_size": 16, "engine_version": "0.19.1"}, 34_720),
        ({"pool_tokens": None, "usable_length": 34_736, "page_size": 16, "engine_version": None}, 34_720),
        ({"pool_tokens": 3_664, "page_size": 16, "engine_version": "0.6.6"}, 3_632),
        ({"pool_tokens": 800, "page_size": 16, "engine_version": "0.6.6"}, 800),
    ],
    ids=[
        "usual block",
        "block on a CPU",
        "hybrid",
        "rounded from the context",
        "estimate",
        "old estimate",
        "of whatever version",
        "V0",
        "small V0",
    ],
)
def test_what_vllm_keeps_back_hangs_on_what_said_the_figure(facts: dict[str, Value], fits: int):
    """A pool has a block too many; the estimate only where older versions made it; V0 keeps 1 % of its blocks."""
    assert fitting_context([vllm("prefill", **facts)]) == fits


@pytest.mark.parametrize(("context", "page"), [(32_768, 64), (2_000, 16), (1_048_576, 64)])
@pytest.mark.parametrize("rule", ["pool-below-context", "asymmetric-pools"])
def test_the_cells_fix_typed_as_it_stands_ends_the_finding(context: int, page: int, rule: str):
    """Its pools follow the context unless they are given, so the fix names them too."""
    options = CellOptions(
        model="induction",
        rules="placeholder",
        context=context,
        prefill_pool=None,
        decode_pool=None,
        page_size=page,
        wire=None,
        reuse="lifo",
        workers="thread",
        taint="off",
    )
    finding = next(iter(said_of(rule, *_started(options))))
    typed = {name: int(value) for name, value in re.findall(r"--([a-z-]+) (\d+)", finding.fix.partition("; or")[0])}
    again = replace(
        options, context=typed["context"], prefill_pool=typed["prefill-pool"], decode_pool=typed.get("decode-pool")
    )
    assert said_of(rule, *_started(again)) == []


def _started(options: CellOptions) -> list[NodeFacts]:
    """What the workers print when they start, read back."""
    lines = [start_line(options.config(), role, "0.1.0") for role in (Role.PREFILL, Role.DECODE)]
    log = io.BytesIO("\n".join(lines).encode() + b"\n")
    return list(read_log(log, file="cell.log", fallback_name="cell").nodes)


@pytest.mark.parametrize(
    ("version", "severity", "told"),
    [
        ({"engine_version": "0.5.19"}, Severity.CRITICAL, "runs on as one token, and decode can answer it"),
        ({"engine_version_min": "0.5.17", "engine_version_max": "0.5.20"}, Severity.CRITICAL, "runs on as one token"),
        ({"engine_version": "0.5.20"}, Severity.MEDIUM, "runs one token of them and sends nothing"),
        ({"engine_version": "0.5.21"}, Severity.MEDIUM, "turns them away"),
        ({}, Severity.CRITICAL, "does not show the version"),
    ],
)
def test_what_a_refusal_on_prefill_comes_to_is_the_version_s(version: dict[str, Value], severity: Severity, told: str):
    """Nothing is sent from 0.5.20 on, and no leak is told of it; where it may be older, it is (sglang#36988)."""
    facts = {"engine_version": None, **version}
    found = said_of("pool-below-context", sglang("prefill", pool_tokens=681_280, **facts), sglang("decode"))
    assert [one.severity for one in found] == [severity]
    assert told in found[0].message
