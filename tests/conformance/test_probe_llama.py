"""The probe against llama.cpp's real server: what it verifies, and that it never finds a leak where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.engine_processes import post
from support.llama_server import running_llama, smollm2
from support.probe_tally import probed, tally
from support.reciting_gguf import write_gguf

PYTHON = os.environ.get("KVFENCE_LLAMA_PYTHON", "")
CONTEXT = 4096
REAL_MODEL_CAMPAIGNS = 4
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        not PYTHON,
        reason="KVFENCE_LLAMA_PYTHON names no Python that has xllamacpp; see tests/conformance/README.md",
    ),
]


def test_what_is_declared_is_verified_in_every_manner_of_asking(tmp_path: Path):
    """Two slots of 4,096 tokens with a model that recites: up to its own refusal every marker comes back."""
    model = write_gguf(tmp_path / "recites.gguf", context=CONTEXT)
    with running_llama(PYTHON, tmp_path, model, context=CONTEXT, slots=2) as server:
        seen = tally(server.url, tmp_path, "--depths", "2", "--scenario", "all", "--limit", str(2 * CONTEXT))
    assert (seen.alarms, seen.verdicts, seen.declared) == ([], {"clean"}, {CONTEXT})
    assert min(seen.verified) > CONTEXT * 95 // 100
    past = [row for row in seen.rows() if row["tokens"] > CONTEXT]
    assert {(row["status"], row["verdict"]) for row in past} == {(400, "refused")}


def test_a_real_model_that_copies_badly_is_called_weak_and_never_a_leak(tmp_path: Path):
    """SmolLM2-135M copies a marker in some prompts only."""
    with running_llama(PYTHON, tmp_path, smollm2(PYTHON), context=2048, slots=2) as server:
        reports = [
            probed(server.url, tmp_path, "--seed", str(seed), "--depths", "1", "--max-requests", "12")
            for seed in range(REAL_MODEL_CAMPAIGNS)
        ]
    assert sum(report["leak_rate"]["seen"] for report in reports) == 0
    assert {report["verdict"] for report in reports} <= {"weak-model", "inconclusive", "clean", "broken"}
    assert {report["declared_context"] for report in reports} == {2048}


def test_its_refusal_names_its_own_limit(tmp_path: Path):
    """In the form of which the unit tests have a copy."""
    model = write_gguf(tmp_path / "recites.gguf", context=CONTEXT)
    with running_llama(PYTHON, tmp_path, model, context=2048, slots=1) as server:
        said = [{"role": "user", "content": "word " * 1000}]
        answer = post(f"{server.url}/v1/chat/completions", {"messages": said, "max_tokens": 4})
    assert answer.status == 400
    assert answer.body["error"]["type"] == "exceed_context_size_error"
    assert "exceeds the available context size (2048 tokens)" in answer.body["error"]["message"]
