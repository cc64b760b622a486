"""A pair of vLLM, from what a real one printed: limits that its pools made, and what tells that they are a pair."""

from __future__ import annotations

from kvfence.audit import inspect
from kvfence.findings.finding import Severity
from support.audit_logs import CORPUS
from support.audit_nodes import audit_of, vllm

LOGS = [str(CORPUS / "logs" / f"vllm-0.32-auto-fit-{role}.txt") for role in ("prefill", "decode")]


def test_a_context_that_shrank_to_a_small_pool_is_found():
    """With `--max-model-len auto` prefill takes half of what decode takes; the way up counts the block held back."""
    result = inspect(LOGS)
    (found,) = [one for one in result.findings if one.rule == "asymmetric-pools"]
    assert found.severity is Severity.MEDIUM
    assert "1,025 to 2,048 tokens" in found.message
    assert "--max-model-len 1024 on prefill and on decode" in found.fix
    assert "--max-model-len 2048 on prefill too, with a pool of at least 2,176 tokens" in found.fix


def test_without_a_block_size_the_block_is_named():
    """The pool to give is then the length and one block."""
    result = audit_of(vllm("prefill", context_length=1024, page_size=None), vllm("decode", context_length=2048))
    (fix,) = [one.fix for one in result.findings if one.rule == "asymmetric-pools"]
    assert "at least 2,048 tokens and one block" in fix
