"""Many clients for a while: does a page leak, does foreign text show, does memory grow?

Clients of several tenants send prompts of mixed sizes, around the limits and past them, streaming and not; some hang up
at random, before or within the answer. Each checks its own answer: its own secret must come back, nobody else's. At
the end the pools must be empty but for pages kept for reuse. Prints figures; exits 1 when one is wrong.

    python benchmarks/soak.py [--clients 200] [--seconds 300] [--rules fenced] [--wire push] [--workers thread]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import random
import resource
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from kvfence.cell.config import CellConfig, Hosting
from kvfence.cell.documents import QUESTION, Document, make_document
from kvfence.cell.server import running_cell
from kvfence.cell.taint import Oracle
from kvfence.core.rules import NAMED, Wire

CONTEXT, POOL, DECODE = 16_384, 10_624, 131_072
TENANTS = 8
OK, REFUSED = 200, 400
ANSWER = 48
SIZES = (200, 800, 1_500, 3_000, 6_000, POOL - 70, POOL - 48, POOL - 40, POOL + 64, 12_000, CONTEXT - 40, CONTEXT + 100)
WEIGHTS = (30, 25, 15, 8, 3, 2, 2, 2, 2, 2, 2, 2)


@dataclass
class Tally:
    """What all clients saw."""

    outcomes: Counter[str] = field(default_factory=Counter)
    foreign: int = 0
    wrong: int = 0
    unexpected: list[str] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    """Every secret ever sent, and whose it is."""


async def client(number: int, url: str, until: float, tally: Tally, seed: int) -> None:
    """One client: asks until the time is over."""
    rng = random.Random(f"{seed}/{number}")
    tenant = f"tenant-{number % TENANTS}"
    async with httpx.AsyncClient(timeout=120, headers={"authorization": f"Bearer {tenant}"}) as http:
        while time.monotonic() < until:
            document = make_document(rng, rng.choices(SIZES, WEIGHTS)[0], question=QUESTION)
            tally.secrets.update(dict.fromkeys(document.secrets, tenant))
            try:
                await one_request(http, url, rng, document=document, tenant=tenant, tally=tally)
            except httpx.HTTPError as error:
                tally.unexpected.append(f"{type(error).__name__}: {error}")


async def one_request(
    http: httpx.AsyncClient, url: str, rng: random.Random, *, document: Document, tenant: str, tally: Tally
) -> None:
    """A whole answer, a stream, or a hang-up."""
    way = rng.choices(("whole", "stream", "hang up early", "hang up late"), (5, 3, 1, 1))[0]
    body = {"messages": [{"role": "user", "content": document.text}], "max_tokens": ANSWER}
    if way == "hang up early":
        with contextlib.suppress(TimeoutError, httpx.ReadTimeout):
            await asyncio.wait_for(http.post(f"{url}/chat/completions", json=body), rng.random() * 0.3)
        tally.outcomes[way] += 1
        return
    if way == "whole":
        response = await http.post(f"{url}/chat/completions", json=body)
        text = response.json()["choices"][0]["message"]["content"] if response.status_code == OK else ""
        judge(response.status_code, text, document, tenant, tally, whole=True)
        return
    leave_after = rng.randrange(ANSWER) if way == "hang up late" else ANSWER + 9
    async with http.stream("POST", f"{url}/chat/completions", json={**body, "stream": True}) as response:
        text, complete = await read_stream(response, leave_after)
    judge(response.status_code, text, document, tenant, tally, whole=complete)


async def read_stream(response: httpx.Response, leave_after: int) -> tuple[str, bool]:
    """The text so far, and whether it is all of it."""
    text, events = "", 0
    async for line in response.aiter_lines():
        if line == "data: [DONE]":
            return text, True
        if line.startswith("data: "):
            event = json.loads(line[6:])
            text += event["choices"][0]["delta"].get("content", "") if "choices" in event else ""
            events += 1
            if events > leave_after:
                break
    return text, False


def judge(status: int, text: str, document: Document, tenant: str, tally: Tally, *, whole: bool) -> None:
    """Status, own secret, nobody else's."""
    tally.outcomes[f"status {status}" + ("" if whole or status != OK else ", left early")] += 1
    if status not in (OK, REFUSED):
        tally.unexpected.append(f"status {status}")
    others = [secret for secret in tally.secrets if secret in text and tally.secrets[secret] != tenant]
    tally.foreign += bool(others)
    fits = document.secrets and whole and status == OK
    if fits and not document.secrets_in(text):
        tally.wrong += 1


async def metrics(url: str) -> dict[str, float]:
    """The cell's figures, by name with labels."""
    async with httpx.AsyncClient() as http:
        text = (await http.get(url.removesuffix("/v1") + "/metrics")).text
    pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def rss_mb() -> float:
    """Resident memory of this process now, in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


async def soak(url: str, options: argparse.Namespace, tally: Tally) -> tuple[list[float], dict[str, float]]:
    """Run all clients; memory every tenth of the time; figures after the last room has ended."""
    until = time.monotonic() + options.seconds
    clients = [asyncio.create_task(client(n, url, until, tally, options.seed)) for n in range(options.clients)]
    memory = []
    for _ in range(10):
        await asyncio.sleep(options.seconds / 10)
        tally.secrets = dict(list(tally.secrets.items())[-50_000:])
        memory.append(rss_mb())
    await asyncio.gather(*clients)
    for _ in range(200):
        figures = await metrics(url)
        if not any(figures[name] for name in figures if name.startswith(("kvfence_rooms{", "kvfence_rooms_open"))):
            break
        await asyncio.sleep(0.1)
    return memory, figures


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rules", default="fenced", choices=sorted(NAMED))
    parser.add_argument("--wire", default="push", choices=[wire.value for wire in Wire])
    parser.add_argument("--workers", default="thread", choices=[hosting.value for hosting in Hosting])
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    logging.getLogger("kvfence.cell").setLevel(logging.ERROR)
    hosting = Hosting(options.workers)
    config = CellConfig(
        prefill_pool_tokens=POOL,
        decode_pool_tokens=DECODE,
        context_tokens=CONTEXT,
        rules=NAMED[options.rules],
        wire=Wire(options.wire),
        hosting=hosting,
        oracle=Oracle.RAISE if hosting is Hosting.THREAD else Oracle.OFF,
    )
    tally = Tally()
    with running_cell(config) as cell:
        memory, figures = asyncio.run(soak(cell.url, options, tally))
        healthy = cell.router.healthy()
    return report(options, tally, memory, figures, healthy=healthy)


def report(
    options: argparse.Namespace, tally: Tally, memory: list[float], figures: dict[str, float], *, healthy: bool
) -> int:
    """Print all of it; 1 when something is wrong."""
    held = {
        name: value
        for name, value in figures.items()
        if name.startswith("kvfence_pages{") and 'state="free"' not in name and value
    }
    reusable = figures.get('kvfence_pages_kept_for_reuse{worker="prefill-0"}', 0.0)
    lost = sum(value for name, value in held.items()) - reusable
    refused = {name: value for name, value in figures.items() if "messages_refused" in name or "checks_failed" in name}
    growth = memory[-1] / memory[2] - 1
    print(f"{options.clients} clients, {options.seconds:g} s, {options.rules}, {options.wire}, {options.workers}, "
          f"seed {options.seed}")  # fmt: skip
    print(f"requests: {sum(tally.outcomes.values()):,}  {dict(tally.outcomes.most_common())}")
    print(f"answers with foreign text: {tally.foreign}; wrong answers with status 200: {tally.wrong}")
    print(f"unexpected: {Counter(tally.unexpected).most_common(5)}; checks and refused messages: {refused}")
    print(f"pages not free at the end: {held or 'none'}, of which kept for reuse {reusable:.0f}, lost {lost:.0f}")
    print(f"memory MB at each tenth: {[round(value) for value in memory]}, growth after the third {growth:+.1%}")
    print(f"workers alive: {healthy}")
    bad = tally.foreign or tally.wrong or tally.unexpected or lost or refused or not healthy
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
