"""Does the probe see from outside what the taint oracle sees inside? Each rule set of core, on a quick wire and a slow.

The cell is `kvfence serve` at its default sizes, a process of its own, with `--taint record`: the oracle shadows every
slot, counts the answers that were made from another tenant's slots, and serves that count as a metric. The probe is the
program's own in all manners of asking; it is told the pool's size, and sees the endpoint and not the metric. Campaign
after campaign is run until one says `leak`, or there were `--campaigns` of them; under `fenced` until there were
`--fenced-requests`. On the slow wire each transfer takes a random time up to a second, and a lease lasts 0.3 s: both
are longer in the field, in the same order.

    python benchmarks/probe_truth.py [--rules fenced no-drain] [--wire slow] [--seed 1] [--fenced-requests 1000]

A row for each: answers that the oracle counted, the probe's verdict and how many answers it calls a leak, how many
requests had been sent when the first of them was whole, requests and seconds in all, and what each manner said.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx

from kvfence.core.rules import FENCED, NAMED
from kvfence.findings.leak_rate import LeakRate
from kvfence.findings.recall import LengthVerdict, ProbeResult, ProbeVerdict
from kvfence.probe.answers import Judge
from kvfence.probe.drive import run
from kvfence.probe.journal import About
from kvfence.probe.options import Options, key_of, tenant_of
from kvfence.probe.record import Exchange, History, Scenario
from kvfence.probe.target import Bounds, Target

WIRES = {"quick": (), "slow": ("--wire-delay", "1000", "--lease", "0.3")}
CONTEXT = 32_768
"""What `kvfence serve` has by default."""
POOL_OF_CONTEXT, PAGE = 0.65, 64
"""What it makes of a context for prefill: whole pages of so much."""
DEPTHS = 3
"""Markers in a prompt: an answer of the cell has a token a byte, and most of a request's time goes into it."""
ANSWER_WITHIN_S = 20.0
"""A cell under `retire-after-forward` answers nobody for minutes, once its decode pool is held."""
COUNTED = re.compile(r'^kvfence_foreign_answers_total\{worker="decode-0"\} (\S+)$', re.MULTILINE)


@dataclass
class Proof:
    """A recorder that keeps one thing: how many requests had been sent when the first leak was whole."""

    judge: Judge | None = None
    sent_requests: int = 0
    at: int | None = None

    def begin(self, about: About) -> list[History]:
        """A new campaign."""
        self.judge = Judge(about.campaign)
        return []

    def sent(self, round_index: int, exchange: Exchange) -> None:
        """One more."""
        del round_index, exchange
        self.sent_requests += 1

    def ended(self, exchange: Exchange) -> None:
        """Judged at once: what shows a marker of a prompt that is still under way is known a little later."""
        if self.judge is not None and self.at is None:
            verdict = self.judge.judge((exchange,))[0].result.verdict
            self.at = self.sent_requests if verdict is LengthVerdict.LEAK else None


@dataclass
class Row:
    """What came of one cell."""

    results: list[ProbeResult] = field(default_factory=list)
    requests: int = 0
    proof: int | None = None
    seconds: float = 0.0
    counted: int = 0
    """By the oracle: answers that were made from another tenant's slots."""

    @property
    def verdict(self) -> ProbeVerdict:
        """The worst of all campaigns, a leak first."""
        verdicts = {result.verdict for result in self.results} - {ProbeVerdict.CLEAN}
        return next((verdict for verdict in ProbeVerdict if verdict in verdicts), ProbeVerdict.CLEAN)

    @property
    def rate(self) -> LeakRate:
        """Leaks among the answers that could have shown one."""
        rates = [result.leak_rate for result in self.results if result.leak_rate]
        return LeakRate(seen=sum(rate.seen for rate in rates), trials=sum(rate.trials for rate in rates))


def measured(url: str, context: int, seed: int, *, campaigns: int, requests_min: int) -> Row:
    """Campaign after campaign, as said above."""
    row, began = Row(), time.monotonic()
    while row.proof is None and (len(row.results) < campaigns or row.requests < requests_min):
        proof = Proof()
        result = run(_options(url, context, seed + len(row.results)), recorder=proof)
        row.proof = None if proof.at is None else row.requests + proof.at
        row.results.append(result)
        row.requests += result.requests
        print(
            f"# {row.requests} requests, {time.monotonic() - began:.0f} s: {result.reason}", file=sys.stderr, flush=True
        )
    row.seconds = time.monotonic() - began
    metrics = httpx.get(url.removesuffix("/v1") + "/metrics", timeout=60).text
    row.counted = int(float(COUNTED.findall(metrics)[0]))
    return row


def _options(url: str, context: int, seed: int) -> Options:
    pool = int(context * POOL_OF_CONTEXT) // PAGE * PAGE
    return Options(
        target=Target(base_url=url, timeout_s=ANSWER_WITHIN_S),
        seeders=(tenant_of("a", None, seed),),
        harvester=tenant_of("b", None, seed),
        bounds=Bounds(limits=(pool,)),
        seed=seed,
        key=key_of(seed),
        depths=DEPTHS,
        scenarios=tuple(Scenario),
    )


@contextlib.contextmanager
def served(*args: str) -> Iterator[str]:
    """`kvfence serve induction` on a free port: its address."""
    command = [sys.executable, "-m", "kvfence", "serve", "induction", "--port", "0", *args]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            ready = (re.search(r"ready: url=(\S+)", line) for line in process.stderr or ())
            url = next((found.group(1) for found in ready if found), None)
            if url is None:
                raise SystemExit("the cell did not start")
            yield url
        finally:
            process.terminate()
            process.communicate()


def main() -> None:
    """Print the rows."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    options.add_argument("--rules", nargs="*", choices=NAMED, default=list(NAMED))
    options.add_argument("--wire", nargs="*", choices=WIRES, default=list(WIRES))
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--context", type=int, default=CONTEXT, help="of the cell; its pools follow")
    options.add_argument("--campaigns", type=int, default=3)
    options.add_argument("--fenced-requests", type=int, default=1_000, help="for each wire, at least")
    asked = options.parse_args()
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| rules | wire | oracle | probe | leaks | first proof | requests | seconds | manners |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for rules in asked.rules:
        for wire in asked.wire:
            requests_min = asked.fenced_requests if rules == FENCED.name else 0
            with served("--rules", rules, "--taint", "record", "--context", str(asked.context), *WIRES[wire]) as url:
                row = measured(url, asked.context, asked.seed, campaigns=asked.campaigns, requests_min=requests_min)
            print(_line(rules, wire, row), flush=True)
            if row.proof is None:
                print(f"\n{row.rate}: at most {row.rate.upper_bound:.2%} at 95 %\n", flush=True)


def _line(rules: str, wire: str, row: Row) -> str:
    said: dict[str, str] = {}
    for result in row.results:
        for one in result.scenarios:
            if one.verdict is not LengthVerdict.CLEAN:
                said[one.name] = str(one.verdict)
    manners = ", ".join(f"{name} {verdict}" for name, verdict in said.items()) or "all clean"
    first = "-" if row.proof is None else f"{row.proof}"
    cells = (rules, wire, row.counted, row.verdict, row.rate.seen, first, row.requests, f"{row.seconds:.0f}", manners)
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
