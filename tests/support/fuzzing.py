"""Many cases of one claim, each from its own seed: how many comes from outside, which one failed is told.

`make fuzz` runs every `tests/fuzz/test_*.py` with `KVFENCE_FUZZ_CASES` cases (a million unless told); the normal suite
runs a few hundred of the same cases under `tests/unit`.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

CASES = int(os.environ.get("KVFENCE_FUZZ_CASES", "1000000"))
SEED = os.environ.get("KVFENCE_FUZZ_SEED", "1")
SECONDS_MAX = 10.0
"""Longer than any case may take, on a machine that is busy with other things: a hang, not slowness."""


def hold(claim: Callable[[random.Random], None], cases: int) -> None:
    """Ask `claim` of so many seeds. What it raises gets a note with the one line that runs this case alone."""
    for number in range(cases):
        one(claim, number)


def one(claim: Callable[[random.Random], None], number: int) -> None:
    """Ask `claim` of the case of that number."""
    began = time.perf_counter()
    try:
        claim(random.Random(f"{SEED}:{number}"))
        took = time.perf_counter() - began
        assert took < SECONDS_MAX, f"a case took {took:.1f} s"
    except BaseException as error:
        error.add_note(f"case {number} of KVFENCE_FUZZ_SEED={SEED}: fuzzing.one(claim, {number})")
        raise
