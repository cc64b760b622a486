"""What does the fence cost? Tokens a second of the cell with every check on, over the same cell with none.

Each block of requests, sent one after the other, has a cell of its own, opened for it and warmed up by two requests;
both cells of a pair lie in the same memory, one after the other, in an order drawn at random. (Two pools in two places
make equal cells differ by up to a tenth; `--same` shows what is left: it compares the open cell with itself.)

Prompts were never sent before and tenants alternate, so pages change tenant and are cleared each time; what is cleared
between two requests of a block is inside that block's time.

Two figures, each the median ratio of the pairs with its 95 % interval (bootstrap over the pairs):

    sum      tokens over seconds of the block. Reading the cache 128 times is most of it, the same work on both sides,
             and what other work on the machine's memory does to it hides a cost of a few per cent.
    typical  tokens over the block's median time to the first token and 127 times its median time between two tokens.
             A token held up by somebody else does not move a median; what the fence does, it does to every request.

    python benchmarks/fence_cost.py [--pairs 40] [--same]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import platform
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kvfence.cell.asks import Ask, Finished
from kvfence.cell.config import CellConfig
from kvfence.cell.documents import QUESTION, make_document
from kvfence.cell.paged_kv import PagedKV
from kvfence.cell.router import RouterDriver
from kvfence.cell.workers import WORKER_ROLES, ThreadWorkers
from kvfence.core.ids import Role
from kvfence.core.rules import FENCED, Rules, only

LENGTHS = (2_048, 65_536, 524_288)
NEW_TOKENS = 128
BLOCK_TOKENS = 131_072
"""A block is as many requests as make about this many tokens, and between 2 and 16 of them."""
WARM_UP = 1
"""Requests before the clock of each cell; the first cell of a pair touches the memory for both."""
_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Timed:
    """One request: seconds to its first token, and between each two."""

    tokens: int
    """Prompt and answer together."""
    first: float
    gaps: list[float]


async def one_request(router: RouterDriver, tenant: str, prompt: bytes) -> Timed:
    """Ask, and look at the clock at each piece of the answer."""
    end, times = None, [time.perf_counter()]
    async for answer in router.answer(Ask(tenant=tenant, prompt=prompt, max_new_tokens=NEW_TOKENS)):
        end = answer
        times.append(time.perf_counter())
    if not isinstance(end, Finished):
        raise SystemExit(f"the cell did not answer: {end}")
    first, *gaps = (after - before for before, after in itertools.pairwise(times))
    return Timed(end.prompt_tokens + end.completion_tokens, first, gaps)


@dataclass(frozen=True, slots=True)
class Figures:
    """Tokens a second of one block."""

    by_sum: float
    typical: float
    first_ms: float
    """Median time to the first token."""

    @classmethod
    def of(cls, block: Sequence[Timed], seconds: float) -> Figures:
        """From its requests and the seconds it took as a whole."""
        first = statistics.median(one.first for one in block)
        gap = statistics.median(gap for one in block for gap in one.gaps)
        steps = statistics.fmean(len(one.gaps) for one in block)
        tokens = sum(one.tokens for one in block)
        return cls(tokens / seconds, tokens / len(block) / (first + steps * gap), first * 1e3)


async def one_block(rules: Rules, prompts: Sequence[bytes], stores: Mapping[Role, PagedKV]) -> Figures:
    """All of them, one after the other, by a cell of their own in these pools; the first is the warm-up."""
    router, workers = open_cell(cell_config(rules, len(prompts[0])), stores)
    for at, prompt in enumerate(prompts[:WARM_UP]):
        await one_request(router, f"tenant {at % 2}", prompt)
    started = time.perf_counter()
    block = [await one_request(router, f"tenant {at % 2}", prompt) for at, prompt in enumerate(prompts[WARM_UP:])]
    seconds = time.perf_counter() - started
    router.stop()
    workers.stop()
    return Figures.of(block, seconds)


READINGS: Mapping[str, Callable[[Figures], float]] = {
    "sum": lambda one: one.by_sum,
    "typical": lambda one: one.typical,
    "first ms": lambda one: one.first_ms,
}


async def measure(length: int, pairs: int, sides: tuple[Rules, Rules]) -> list[tuple[Figures, Figures]]:
    """The figures of both sides for each pair of blocks."""
    rng = random.Random(length)
    size = WARM_UP + min(max(BLOCK_TOKENS // length, 2), 16)
    figures = []
    for _ in range(pairs):
        prompts = [make_document(rng, length, question=QUESTION).text.encode() for _ in range(size)]
        stores = {role: PagedKV.private(cell_config(sides[0], length), role) for role in WORKER_ROLES}
        pair: dict[int, Figures] = {}
        for which in rng.sample((0, 1), 2):
            pair[which] = await one_block(sides[which], prompts, stores)
        figures.append((pair[0], pair[1]))
    return figures


def cell_config(rules: Rules, length: int) -> CellConfig:
    """Of a cell whose pools hold two such prompts."""
    pool = 2 * length + 4 * NEW_TOKENS
    return CellConfig(prefill_pool_tokens=pool, decode_pool_tokens=pool, context_tokens=pool, rules=rules)


def open_cell(config: CellConfig, stores: Mapping[Role, PagedKV]) -> tuple[RouterDriver, ThreadWorkers]:
    """A running cell."""
    workers = ThreadWorkers(config, stores)
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
    print(f"{'prompt tokens':>14} {'':>8} {'fenced':>10} {'open':>10} {'ratio':>7} {'95 % interval':>16}")
    for length in options.length or LENGTHS:
        figures = asyncio.run(measure(length, options.pairs, sides))
        for what, read in READINGS.items():
            pairs = [(read(fenced), read(open_)) for fenced, open_ in figures]
            ratios = [fenced / open_ for fenced, open_ in pairs]
            low, high = interval(ratios)
            print(
                f"{length:>14,} {what:>8} {statistics.median(one for one, _ in pairs):>10,.1f} "
                f"{statistics.median(other for _, other in pairs):>10,.1f} "
                f"{statistics.median(ratios):>7.3f} {f'{low:.3f} to {high:.3f}':>16}"
            )


if __name__ == "__main__":
    main()
