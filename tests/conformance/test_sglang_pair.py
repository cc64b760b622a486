"""The audit against a real prefill and decode pair of SGLang, by their addresses and logs at once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from support.programs import run_kvfence
from support.sglang_pair import Pair, running_pair, running_router

PYTHON = os.environ.get("KVFENCE_SGLANG_PYTHON", "")
ROUTER_PYTHON = os.environ.get("KVFENCE_SGLANG_ROUTER_PYTHON", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        not PYTHON,
        reason="KVFENCE_SGLANG_PYTHON names no Python that has SGLang 0.5.19; see tests/conformance/README.md",
    ),
]


def _audited(pair: Pair) -> tuple[int, dict[str, Any]]:
    ran = run_kvfence("audit", *pair.targets, "--format", "json", timeout=600)
    return ran.code, json.loads(ran.out)


def _by_role(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {node["facts"]["role"]: node["facts"] for node in document["nodes"]}


def test_unequal_pools_are_found_and_seen_to_leak_in(tmp_path: Path):
    """Prefill with 128 tokens and decode with 512: the cause is found with its fix, then the refusal that ran on."""
    with running_pair(PYTHON, tmp_path, prefill_pool=128, decode_pool=512) as pair:
        code, document = _audited(pair)
        assert code == 1
        assert {role: facts["pool_tokens"] for role, facts in _by_role(document).items()} == {
            "prefill": 128,
            "decode": 512,
        }
        critical = {one["rule"]: one for one in document["findings"] if one["severity"] == "critical"}
        assert critical.keys() == {"pool-below-context", "asymmetric-pools", "affected-version"}
        assert "122 to 505" in critical["asymmetric-pools"]["message"]
        assert "give prefill a pool of at least 512 tokens" in critical["asymmetric-pools"]["fix"]
        assert {pair.prefill.url + "/server_info", str(pair.prefill.log)} <= {
            seen["file"] for seen in critical["pool-below-context"]["evidence"]
        }
        assert pair.ask(60, room=11) == {"prefill": (200, 60), "decode": (200, 60)}
        assert pair.ask(140, room=12) == {"prefill": (200, 1), "decode": (200, 140)}, "0.5.19 answers what it refused"
        _code, after = _audited(pair)
        assert "refused-prompts-seen" in {one["rule"] for one in after["findings"]}


def test_after_the_fix_only_the_release_itself_is_left(tmp_path: Path):
    """With pools of twice the context long prompts are served whole, and what stays is what 0.5.19 is and lacks.

    It is clean only as another release: its faults are fixed in 0.5.20 and 0.5.22, its canary stops on a CPU at the
    start ("Expected a cuda device"), and the checksum came with 0.5.21, for CUDA. test_vllm_pair.py has a clean pair.
    """
    with running_pair(PYTHON, tmp_path, prefill_pool=1024, decode_pool=1024) as pair:
        code, document = _audited(pair)
        assert code == 1
        assert {one["rule"] for one in document["findings"]} == {"affected-version", "checks-off"}
        assert not [gap for gap in document["not_checked"] if gap["decisive"]]
        assert len(document["nodes"]) == 2
        assert pair.ask(140, room=13) == {"prefill": (200, 140), "decode": (200, 140)}


@pytest.mark.skipif(
    not ROUTER_PYTHON,
    reason="KVFENCE_SGLANG_ROUTER_PYTHON names no Python that has sglang-router; see tests/conformance/README.md",
)
def test_a_router_is_followed_to_its_workers(tmp_path: Path):
    """The router's address alone finds what the workers' own do; beside them and their logs it adds no node."""
    with (
        running_pair(PYTHON, tmp_path, prefill_pool=128, decode_pool=512) as pair,
        running_router(ROUTER_PYTHON, tmp_path, pair) as router,
    ):
        ran = run_kvfence("audit", router, "--format", "json", timeout=600)
        document = json.loads(ran.out)
        assert ran.code == 1
        assert {role: facts["pool_tokens"] for role, facts in _by_role(document).items()} == {
            "prefill": 128,
            "decode": 512,
        }
        assert {"pool-below-context", "asymmetric-pools"} <= {one["rule"] for one in document["findings"]}
        everything = run_kvfence("audit", router, *pair.targets, "--format", "json", timeout=600)
        assert len(json.loads(everything.out)["nodes"]) == 2
