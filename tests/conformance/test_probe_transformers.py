"""The probe against Transformers' own server, which counts no tokens for others and refuses no length."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kvfence.probe.record import Scenario
from support.probe_tally import tally
from support.reciting_model import write_checkpoint
from support.transformers_server import POOL, Manner, running_transformers

PYTHON = os.environ.get("KVFENCE_TRANSFORMERS_PYTHON", "")
CONTEXT = 1024
RESERVED = 128
"""The probe leaves at most so many tokens of a context to the answer."""
ASKED = {
    Manner.ONE_AT_A_TIME: tuple(
        word for one in Scenario if one is not Scenario.PINNED_POOL for word in ("--scenario", one.value)
    ),
    Manner.BATCHED: ("--scenario", "all", "--limit", str(POOL)),
}
"""Where one request is computed at a time, no pool is shared that could be full."""
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        not PYTHON,
        reason="KVFENCE_TRANSFORMERS_PYTHON names no Python that has transformers 5.19.0 with what it serves by; "
        "see tests/conformance/README.md",
    ),
]


@pytest.mark.parametrize("manner", Manner, ids=lambda manner: manner.name.lower())
def test_what_is_declared_is_verified_in_every_manner_of_asking(tmp_path: Path, manner: Manner):
    """It tells nobody how much it holds, so the context is declared by hand."""
    model = write_checkpoint(tmp_path / "model", context=2 * CONTEXT)
    said = ("--model", str(model), "--context", str(CONTEXT))
    with running_transformers(PYTHON, tmp_path, model, manner) as server:
        seen = tally(server.url, tmp_path, *said, "--depths", "2", *ASKED[manner])
    assert (seen.alarms, seen.verdicts, seen.unproved) == ([], {"clean"}, set())
    assert min(seen.verified) >= CONTEXT - RESERVED
