"""The probe against a real pair of SGLang 0.5.19 behind SGLang's own router: an honest one, and one that leaks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.probe_tally import probed, tally
from support.reciting_model import write_checkpoint
from support.sglang_pair import Model, running_pair, running_router

PYTHON = os.environ.get("KVFENCE_SGLANG_PYTHON", "")
ROUTER_PYTHON = os.environ.get("KVFENCE_SGLANG_ROUTER_PYTHON", "")
CONTEXT = 4096
HONEST_CONTEXT = 1024
"""A sixteenth of the attention that 4,096 tokens cost: each role has less than one core."""
HONEST_POOL = 8 * HONEST_CONTEXT
RESERVED = 128
"""The probe leaves at most so many tokens of a context to the answer."""
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        not (PYTHON and ROUTER_PYTHON),
        reason="KVFENCE_SGLANG_PYTHON and KVFENCE_SGLANG_ROUTER_PYTHON name no Pythons that have SGLang 0.5.19 and its "
        "router; see tests/conformance/README.md",
    ),
]


def recites(context: int) -> Model:
    """The reciting model with so much context."""
    return Model(
        lambda folder: write_checkpoint(folder, context=context),
        ("--dtype", "float32", "--context-length", str(context)),
    )


def said(context: int) -> tuple[str, ...]:
    """SGLang's router lists its workers' model without its length."""
    return ("--context", str(context))


def test_what_an_honest_pair_declares_is_verified_in_every_manner_of_asking(tmp_path: Path):
    """With equal pools over the context: up to its own refusal every marker comes back, and nobody else's."""
    manners = ("--depths", "2", "--scenario", "all", "--limit", str(HONEST_POOL))
    with (
        running_pair(
            PYTHON, tmp_path, prefill_pool=HONEST_POOL, decode_pool=HONEST_POOL, served=recites(HONEST_CONTEXT)
        ) as pair,
        running_router(ROUTER_PYTHON, tmp_path, pair) as router,
    ):
        seen = tally(router, tmp_path, *said(HONEST_CONTEXT), *manners)
    assert (seen.alarms, seen.verdicts) == ([], {"clean"})
    assert min(seen.verified) >= HONEST_CONTEXT - RESERVED
    past = [row for row in seen.rows() if row["tokens"] > HONEST_CONTEXT]
    assert {(row["status"], row["verdict"]) for row in past} == {(400, "refused")}


def test_unequal_pools_are_seen_to_leak_from_outside(tmp_path: Path):
    """The incident on the release that has it: prefill holds less than decode, and decode recites who was there before.

    The probe knows one address. What it finds is over prefill's pool, where the pair answers 200.
    """
    pool = CONTEXT // 2 + 512
    with (
        running_pair(PYTHON, tmp_path, prefill_pool=pool, decode_pool=CONTEXT + 512, served=recites(CONTEXT)) as pair,
        running_router(ROUTER_PYTHON, tmp_path, pair) as router,
    ):
        report = probed(router, tmp_path, *said(CONTEXT), "--seed", "1", "--depths", "2", "--scenario", "sweep")
    assert report["verdict"] == "leak"
    assert {row["status"] for row in report["lengths"] if row["foreign"]} == {200}
    assert min(row["tokens"] for row in report["lengths"] if row["foreign"]) > pool - 64
    assert report["verified_tokens"] < pool
