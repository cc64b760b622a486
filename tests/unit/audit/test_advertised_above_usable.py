"""What `/v1/models` promises against what stands behind it: whose finding it is, how bad, and what is no finding."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from kvfence.audit import inspect
from kvfence.facts.endpoints.fetch import Access
from kvfence.findings.deployment import AuditResult
from kvfence.findings.finding import Confidence, Finding, Severity
from support.audit_nodes import Value, cell, said_of, sglang, vllm
from support.endpoint_servers import SERVER_INFO, as_json, engine
from support.endpoint_servers import sglang as sglang_pages

RULE = "advertised-above-usable"
PATIENT = Access(page_s=30.0, target_s=60.0)
MILLION = 1_048_576


def _models(*lengths: int) -> bytes:
    return as_json({"data": [{"id": f"m{at}", "max_model_len": length} for at, length in enumerate(lengths)]})


def _found(result: AuditResult) -> list[Finding]:
    return [finding for finding in result.findings if finding.rule == RULE]


@pytest.mark.parametrize(
    ("facts", "severities"),
    [
        ({"advertised_length": MILLION}, []),
        ({"advertised_length": MILLION + 1}, [Severity.MEDIUM]),
        ({"advertised_length": MILLION, "pool_tokens": 681_280}, []),
        ({"advertised_length": 2_000_000, "pool_tokens": 681_280}, [Severity.MEDIUM]),
        ({"front_length": MILLION}, []),
        ({"front_length": MILLION, "pool_tokens": 681_280}, [Severity.MEDIUM]),
        ({"front_length": 681_280, "pool_tokens": 681_280}, []),
        ({"front_length": MILLION, "pool_tokens": 681_280, "engine_version": "0.5.19"}, [Severity.HIGH]),
        ({"front_length": MILLION, "pool_tokens": 681_280, "engine_version": None}, [Severity.HIGH]),
        ({"front_length": MILLION, "pool_tokens": 681_280, "role": "unified"}, [Severity.LOW]),
        ({"advertised_length": MILLION, "max_req_input_len": 500_000, "usable_length": 499_999}, [Severity.MEDIUM]),
        ({"front_length": MILLION, "pool_tokens": None, "context_length": None, "usable_length": None}, []),
    ],
)
def test_a_promise_is_held_against_what_is_kept(facts: dict[str, Value], severities: list[Severity]):
    """Its own pool below its own context is another rule's; a router that repeats it is this one's."""
    assert [finding.severity for finding in said_of(RULE, sglang("prefill", **facts))] == severities


@pytest.mark.parametrize(
    ("prefill", "decode", "named"),
    [
        ({"pool_tokens": 681_280}, {}, "prefill"),
        ({}, {"pool_tokens": 600_000}, "decode"),
        ({"pool_tokens": 681_280}, {"pool_tokens": 600_000}, "decode"),
        ({"context_length": 131_072}, {}, "prefill"),
    ],
)
def test_the_worker_that_keeps_the_least_is_named(prefill: dict[str, Value], decode: dict[str, Value], named: str):
    """One finding a router, whichever of its workers it was that it heard from."""
    nodes = (sglang("prefill", **prefill), sglang("decode", front_length=MILLION, **decode))
    (finding,) = said_of(RULE, *nodes)
    assert finding.node == named
    assert {seen.file for seen in finding.evidence} == {"decode.log", f"{named}.log"}


def test_vllm_and_the_cell_are_held_to_the_token():
    """Only SGLang takes a few tokens fewer than its context in any case."""
    assert said_of(RULE, vllm("decode", front_length=131_072)) == []
    assert len(said_of(RULE, vllm("decode", front_length=131_073))) == 1
    assert len(said_of(RULE, cell("decode", front_length=1537))) == 1


def test_what_a_router_answers_is_held_against_its_workers():
    """Asked live: the router passes on decode's context, and prefill keeps 128 tokens of it; the fix is for both."""
    with ExitStack() as stack:
        prefill, decode = (
            stack.enter_context(engine(sglang_pages(f"0.5.19-{role}", port=port)))
            for role, port in (("prefill", 31001), ("decode", 31002))
        )
        urls = as_json({"urls": [prefill.url, decode.url]})
        router = stack.enter_context(engine({"/list_workers": urls, "/v1/models": _models(512)}))
        (finding,) = _found(inspect([router.url], access=PATIENT))
        router.pages["/v1/models"] = _models(128)
        kept = _found(inspect([router.url], access=PATIENT))
        router.pages["/v1/models"] = _models(512, 128)
        undecided = _found(inspect([router.url], access=PATIENT))
    assert finding.node == prefill.name
    assert f"{router.url}/v1/models promises 512 tokens" in finding.message
    assert "keeps 128: 384 more" in finding.message
    assert finding.evidence[0].file == f"{router.url}/v1/models"
    assert finding.confidence is Confidence.HIGH
    assert "--context-length 128" in finding.fix
    assert kept == []
    assert undecided == []  # two models, and nothing says which of them these workers serve


def test_a_small_load_balancer_is_a_router_too():
    """SGLang's, of older versions: all workers' settings in one answer, and the first prefill worker's models."""
    workers = {role: [json.loads(SERVER_INFO[f"0.5.19-{role}"].read_bytes())] for role in ("prefill", "decode")}
    with engine({"/server_info": as_json(workers), "/v1/models": _models(512)}) as balancer:
        (finding,) = _found(inspect([balancer.url], access=PATIENT))
    assert (finding.node, finding.severity) == ("prefill-0", Severity.HIGH)


def test_a_router_named_beside_its_worker_gives_no_disagreement():
    """What stands in front of a worker is no other opinion of the worker."""
    with engine({**sglang_pages("0.5.19-decode"), "/v1/models": _models(512)}) as worker, engine({}) as router:
        router.pages.update({"/list_workers": as_json({"urls": [worker.url]}), "/v1/models": _models(4096)})
        result = inspect([router.url, worker.url], access=PATIENT)
    (node,) = result.nodes
    assert (node.facts["advertised_length"], node.facts["front_length"]) == (512, 4096)
    assert len(_found(result)) == 1
    assert "sources-disagree" not in {finding.rule for finding in result.findings}
