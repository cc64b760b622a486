"""What does the fence cost? Tokens a second of the cell with every check on, over the same cell with none.

Each block of requests, sent one after the other, has a cell of its own, opened for it and warmed up by two requests;
the order within a pair of blocks is drawn at random. (Two cells that stay open side by side differ by up to a tenth
for their whole life even under the same rules, by where their pools came to lie in memory; `--same` shows what is
left of that: it compares the open cell with itself.)

Prompts were never sent before and tenants alternate, so pages change tenant and are cleared each time; what is cleared
between two requests of a block is inside that block's time. Prints the machine, and by the clock and by the
processor's time (which other work on the machine moves less) the median ratio of the pairs with its 95 % interval
(bootstrap over the pairs).

    python benchmarks/fence_cost.py [--pairs 40] [--same]
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kvfence.cell.asks import Ask, Finished
from kvfence.cell.config import CellConfig
from kvfence.cell.documents import QUESTION, make_document
from kvfence.cell.router import RouterDriver
from kvfence.cell.workers import WORKER_ROLES, Workers, start_workers
from kvfence.core.ids import Role
from kvfence.core.rules import FENCED, Rules, only

LENGTHS = (2_048, 65_536, 524_288)
NEW_TOKENS = 128
BLOCK_TOKENS = 262_144
"""A block is as many requests as make about this many tokens, and between 2 and 16 of them."""
WARM_UP = 2
"""Requests before the clock: every page of both pools has been touched after them."""
SETTLE_S = 0.1
"""After a block, so that the last clearing is charged to the cell whose it is."""
_RESAMPLES = 2_000


async def one_request(router: RouterDriver, tenant: str, prompt: bytes) -> int:
    """Its tokens, prompt and answer together."""
    end = None
    async for answer in router.answer(Ask(tenant=tenant, prompt=prompt, max_new_tokens=NEW_TOKENS)):
        end = answer
    if not isinstance(end, Finished):
        raise SystemExit(f"the cell did not answer: {end}")
    return end.prompt_tokens + end.completion_tokens


@dataclass(frozen=True, slots=True)
class Figures:
    """Tokens a second of one block, by two clocks."""

    by_clock: float
    by_processor: float
    """Over the processor's seconds of all threads; clearing after the block is in it."""


async def one_block(rules: Rules, prompts: Sequence[bytes]) -> Figures:
    """All of them, one after the other, by a cell of their own; the first two are the warm-up."""
    router, workers = open_cell(rules, len(prompts[0]))
    for at, prompt in enumerate(prompts[:WARM_UP]):
        await one_request(router, f"tenant {at % 2}", prompt)
    started, worked = time.perf_counter(), time.process_time()
    tokens = [await one_request(router, f"tenant {at % 2}", prompt) for at, prompt in enumerate(prompts[WARM_UP:])]
    taken = time.perf_counter() - started
    await asyncio.sleep(SETTLE_S)
    worked = time.process_time() - worked
    router.stop()
    workers.stop()
    return Figures(sum(tokens) / taken, sum(tokens) / worked)


async def measure(length: int, pairs: int, sides: tuple[Rules, Rules]) -> list[tuple[Figures, Figures]]:
    """The figures of both sides for each pair of blocks."""
    rng = random.Random(length)
    size = WARM_UP + min(max(BLOCK_TOKENS // length, 2), 16)
    figures = []
    for _ in range(pairs):
        prompts = [make_document(rng, length, question=QUESTION).text.encode() for _ in range(size)]
        pair: dict[int, Figures] = {}
        for which in rng.sample((0, 1), 2):
            pair[which] = await one_block(sides[which], prompts)
        figures.append((pair[0], pair[1]))
    return figures


def open_cell(rules: Rules, length: int) -> tuple[RouterDriver, Workers]:
    """A cell whose pools hold two such prompts."""
    pool = 2 * length + 4 * NEW_TOKENS
    config = CellConfig(prefill_pool_tokens=pool, decode_pool_tokens=pool, context_tokens=pool, rules=rules)
    workers = start_workers(config)
    outboxes = {role: workers.outboxes[role] for role in WORKER_ROLES}
    router = RouterDriver(
        config, inbox=workers.inbox, own=workers.outboxes[Role.ROUTER], outboxes=outboxes, alive=workers.alive
    )
    router.start(asyncio.get_running_loop())
    return router, workers


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """The middle 95 % of the medians of resamples."""
    rng = random.Random(0)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(_RESAMPLES))
    return medians[_RESAMPLES // 40], medians[-_RESAMPLES // 40]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=40, help="pairs of blocks at each length")
    parser.add_argument("--length", type=int, action="append", help="only this prompt length; can be repeated")
    parser.add_argument("--same", action="store_true", help="no fence on either side: how far apart equal cells are")
    options = parser.parse_args()
    sides = (only(), only()) if options.same else (FENCED, only())
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(
        f"{'prompt tokens':>14} {'by':>10} {'fenced tok/s':>14} {'open tok/s':>14} {'ratio':>7} {'95 % interval':>16}"
    )
    for length in options.length or LENGTHS:
        figures = asyncio.run(measure(length, options.pairs, sides))
        for by, read in (("clock", lambda one: one.by_clock), ("processor", lambda one: one.by_processor)):
            pairs = [(read(fenced), read(open_)) for fenced, open_ in figures]
            ratios = [fenced / open_ for fenced, open_ in pairs]
            low, high = interval(ratios)
            print(
                f"{length:>14,} {by:>10} {statistics.median(one for one, _ in pairs):>14,.0f} "
                f"{statistics.median(other for _, other in pairs):>14,.0f} "
                f"{statistics.median(ratios):>7.3f} {f'{low:.3f} to {high:.3f}':>16}"
            )


if __name__ == "__main__":
    main()
