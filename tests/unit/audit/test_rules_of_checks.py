"""Checks that are on and check nothing: on one side only, where they cannot run, and where no sign tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvfence.facts.fact import Kind, NodeFacts
from kvfence.findings.finding import Confidence, Severity
from support.audit_nodes import Value, missed_by, node, said_of, sglang, vllm

ONE_SIDE, CANNOT = "check-on-one-side", "check-cannot-run"
HIGH, MEDIUM = Severity.HIGH, Severity.MEDIUM


@pytest.mark.parametrize(
    ("prefill", "decode", "expected"),
    [
        ({}, {}, []),
        ({"kv_checksum": False}, {}, [("prefill", HIGH)]),
        ({}, {"kv_checksum": False}, [("decode", HIGH)]),
        ({"kv_checksum": False}, {"kv_checksum": False}, []),
        ({"kv_checksum": None}, {}, []),
        ({"kv_canary": "log"}, {}, [("decode", MEDIUM)]),
        ({"kv_canary": "log"}, {"kv_canary": "raise"}, []),
        ({"kv_checksum": False}, {"model": "/models/other"}, []),
    ],
)
def test_a_check_on_one_side_is_found_at_the_other(
    prefill: dict[str, Value], decode: dict[str, Value], expected: list[tuple[str, Severity]]
):
    """Either check, either side; both alike or one not known is none."""
    found = said_of(ONE_SIDE, sglang("prefill", **prefill), sglang("decode", **decode))
    assert [(one.node, one.severity) for one in found] == expected


def test_a_worker_that_lacks_a_check_is_told_once():
    """Three decode workers have it: one finding, with evidence of both sides."""
    decodes = (sglang("decode", f"d{index}") for index in range(3))
    (found,) = said_of(ONE_SIDE, sglang("prefill", kv_checksum=False), *decodes)
    assert {seen.file for seen in found.evidence} == {"prefill.log", "d0.log"}


@pytest.mark.parametrize(
    ("worker", "confidences"),
    [
        (sglang("decode"), []),
        (sglang("decode", device="npu"), [Confidence.HIGH]),
        (sglang("decode", device="npu", kv_checksum=False), []),
        (sglang("decode", device=None), []),
        (sglang("decode", model="/models/DeepSeek-V4-Pro"), [Confidence.MEDIUM]),
        (sglang("decode", model="/models/GLM-5.2-FP8"), []),
        (sglang("decode", model="/models/GLM-5.2-FP8", kv_canary="log"), [Confidence.MEDIUM]),
        (sglang("decode", model="/models/glm-50b", kv_canary="log"), []),
        (sglang("decode", attention_backend="trtllm_mla", kv_canary="raise"), [Confidence.MEDIUM]),
        (sglang("decode", kv_canary="log"), []),
        (vllm("decode", kv_checksum=True, device="cpu"), []),
    ],
)
def test_a_check_that_cannot_run_is_found(worker: NodeFacts, confidences: list[Confidence]):
    """By the device that was read, or by what a model's or a backend's name says of the pool."""
    found = said_of(CANNOT, worker)
    assert [one.confidence for one in found] == confidences
    assert {one.severity for one in found} <= {HIGH}


@pytest.mark.parametrize(
    ("facts", "told"),
    [({}, ["KV checksum"]), ({"kv_canary": "log"}, ["KV checksum", "KV canary"]), ({"kv_checksum": False}, [])],
)
def test_a_check_whose_work_leaves_no_sign_is_told(facts: dict[str, Value], told: list[str]):
    """No line says "verified": a gap that names how to see it, and does not decide."""
    gaps = missed_by("check-not-running", sglang("decode", **facts))
    assert [gap.why.partition(" really")[0].removeprefix("whether the ") for gap in gaps] == told
    assert not any(gap.decisive for gap in gaps)
    assert missed_by("check-not-running", sglang("unified", **facts)) == []


def test_a_check_that_has_caught_something_has_run():
    """A failed check is the sign that is otherwise missing."""
    caught = replace(sglang("decode"), happenings=node("decode", happened=(Kind.CHECK_FAILED,)).happenings)
    assert missed_by("check-not-running", caught) == []
