"""What does the fence cost? Tokens a second of the cell with every check on, over the same cell with none.

Both cells stand in one process and are asked in turn, A B A B, with prompts that were never sent before and tenants
that alternate, so that pages change tenant and are cleared each time. Prints the machine, both medians and the ratio.

    python benchmarks/fence_cost.py [--rounds 15]
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import random
import statistics
import time

import numpy as np

from kvfence.cell.asks import Ask, Finished
from kvfence.cell.config import CellConfig
from kvfence.cell.documents import QUESTION, make_document
from kvfence.cell.router import RouterDriver
from kvfence.cell.workers import WORKER_ROLES, start_workers
from kvfence.core.ids import Role
from kvfence.core.rules import FENCED, Rules, only

LENGTHS = (2_048, 65_536, 524_288)
NEW_TOKENS = 128


async def one_request(router: RouterDriver, tenant: str, prompt: bytes) -> float:
    """Tokens a second, prompt and answer together."""
    started = time.perf_counter()
    end = None
    async for answer in router.answer(Ask(tenant=tenant, prompt=prompt, max_new_tokens=NEW_TOKENS)):
        end = answer
    if not isinstance(end, Finished):
        raise SystemExit(f"the cell did not answer: {end}")
    return (end.prompt_tokens + end.completion_tokens) / (time.perf_counter() - started)


async def measure(length: int, rounds: int) -> tuple[list[float], list[float]]:
    """Figures of the fenced and of the open cell, in the order of the rounds; one warm-up round is left out."""
    cells = [open_cell(rules, length) for rules in (FENCED, only())]
    figures: tuple[list[float], list[float]] = ([], [])
    rng = random.Random(length)
    for number in range(rounds + 2):
        prompt = make_document(rng, length, question=QUESTION).text.encode()
        order = (0, 1) if number % 2 else (1, 0)
        for which in order:
            figure = await one_request(cells[which][0], f"tenant {number % 2}", prompt)
            if number > 1:
                figures[which].append(figure)
    for router, workers in cells:
        router.stop()
        workers.stop()
    return figures


def open_cell(rules: Rules, length: int) -> tuple[RouterDriver, object]:
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="rounds at the longest prompt; more at the shorter ones")
    parser.add_argument("--length", type=int, action="append", help="only this prompt length; can be repeated")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(
        f"{'prompt tokens':>14} {'fenced tok/s':>14} {'open tok/s':>14} {'ratio of medians':>17} {'median ratio':>13}"
    )
    for length in options.length or LENGTHS:
        rounds = options.rounds * max(1, round((LENGTHS[-1] / length) ** 0.5))
        fenced, open_ = asyncio.run(measure(length, rounds))
        of_medians = statistics.median(fenced) / statistics.median(open_)
        paired = statistics.median(a / b for a, b in zip(fenced, open_, strict=True))
        print(
            f"{length:>14,} {statistics.median(fenced):>14,.0f} {statistics.median(open_):>14,.0f} "
            f"{of_medians:>11.3f} {paired:>9.3f}"
        )


if __name__ == "__main__":
    main()
