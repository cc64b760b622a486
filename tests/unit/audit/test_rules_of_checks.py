"""Checks that are on and check nothing: on one side only, and where they cannot run."""

from __future__ import annotations

import pytest

from kvfence.facts.fact import NodeFacts
from kvfence.findings.finding import Confidence, Severity
from support.audit_nodes import Value, said_of, sglang, vllm

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
