"""Which test tools notice the incident's server, and at what cost: `kvfence probe` beside its peers.

    KVFENCE_PEERS=FOLDER python benchmarks/beside_peers [NAME…]

README.md beside this file says how the peers are installed. Each is run against the same cell twice, under
`placeholder` (the incident) and under `fenced`, through a front that counts what it asks and finds out which of the
answers carried another prompt's text. A peer notices if what it calls a failure happens under `placeholder` and not
under `fenced`; a tool that fails both has noticed nothing of the server.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from peers import PEERS, Peer, Said, Where
from recording import Recorded, recording

RULES = ("placeholder", "fenced")
START_S = 60
COLUMNS = (
    "notices",
    "says of `placeholder`",
    "says of `fenced`",
    "foreign answers",
    "under fenced",
    "requests",
    "prompt bytes",
    "s",
)


@dataclass(frozen=True)
class Run:
    """One peer under one rule."""

    said: Said
    recorded: Recorded
    seconds: float


@contextmanager
def cell(rules: str) -> Iterator[str]:
    """A cell with its default sizes on a free port; gives its base address without `/v1`."""
    command = [sys.executable, "-m", "kvfence", "serve", "induction", "--rules", rules, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            lines = iter(server.stdout.readline, "") if server.stdout else iter(())
            ready = next(line for line in lines if " cell ready: " in line)
            yield ready.split("url=")[1].split()[0].removesuffix("/v1")
        finally:
            server.terminate()


def run(peer: Peer, rules: str, home: Path) -> Run:
    """A peer against a fresh cell."""
    with cell(rules) as target, tempfile.TemporaryDirectory(prefix="peers-") as folder:
        httpx.get(f"{target}/v1/models", timeout=START_S).raise_for_status()
        with recording(target, peer.reading) as (url, recorded):
            began = time.monotonic()
            said = peer.run(Where(url=f"{url}/v1", folder=Path(folder), home=home))
            return Run(said=said, recorded=recorded, seconds=time.monotonic() - began)


def row(peer: Peer, leaking: Run, fenced: Run) -> str:
    """A row of the table."""
    noticed = "yes" if leaking.said.wrong and not fenced.said.wrong else "no"
    cost = f"{leaking.recorded.requests:,} | {leaking.recorded.prompt_bytes:,} | {leaking.seconds:.0f}"
    return (
        f"| {peer.name} | {noticed} | {leaking.said.text} | {fenced.said.text} "
        f"| {leaking.recorded.foreign_answers} | {fenced.recorded.foreign_answers} | {cost} |"
    )


def main() -> None:
    """Print the table."""
    home = Path(os.environ.get("KVFENCE_PEERS", "peers")).resolve()
    wanted = sys.argv[1:]
    print("| tool | " + " | ".join(COLUMNS) + " |")
    print("| --- " * (1 + len(COLUMNS)) + "|")
    for peer in PEERS:
        if wanted and not any(word in peer.name for word in wanted):
            continue
        missing = [need for need in peer.needs if not (home / need).exists()]
        if missing:
            print(f"| {peer.name} | not run: {home.name}/{missing[0]} is not there | | | | | | | |")
            continue
        leaking, fenced = (run(peer, rules, home) for rules in RULES)
        print(row(peer, leaking, fenced), flush=True)


if __name__ == "__main__":
    main()
