"""How fast does `kvfence audit` read a server's log of gigabytes, beside `grep` for the same stems in the same file?

Three logs. `server`: what a server prints in weeks: access lines, batches, now and then a logged request with its
prompt, a refusal in ten thousand lines, and a start at its head and in its middle. `refusals`: nothing but refusals,
of which every single one must be understood; `rooms`: nothing but digests that do not match, each with a room and
two digests of its own; both a tenth of the size. All were just written and are read once before anything is timed, so
they come from the page cache as far as memory reaches; what is measured is work, not the disk.

`grep -F` searches for the stems as they are, `grep -E` for the same stems as one expression; both only count lines,
under `LC_ALL=C`. `audit` is the whole program, from its start to its report.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kvfence.facts.read_log import log_anchors

MEGABYTE = 1_000_000
CHUNK_BYTES = 32 * MEGABYTE
HEADLINE = (
    "[2026-12-01 13:18:54] max_total_num_tokens=681280, chunked_prefill_size=8192, max_prefill_tokens=16384, "
    "max_running_requests=64, context_len=1048576, available_gpu_mem=19.14 GB\n"
)
SETTINGS = (
    "[2026-12-01 13:10:02] server_args={'model_path': '/models/m', 'disaggregation_mode': 'prefill', 'page_size': 64, "
    "'tp_size': 8, 'enable_dp_attention': False, 'port': 30000}\n"
)
REFUSED = (
    "[2026-12-01 13:18:58] Input length ({n} tokens) exceeds the maximum allowed length (681274 tokens). "
    "Use a shorter input or enable --allow-auto-truncate., self.rid='B-a1-{n}'\n"
)
ROOM = "[2026-12-01 13:18:59 TP0] KV checksum mismatch req={n} bootstrap_room={a} expected=0x{b:x} got=0x{a:x}\n"
DECODE = (
    "[2026-12-01 13:18:55 TP0] Decode batch, #running-req: {a}, #token: {n}, token usage: 0.42, cuda graph: True, "
    "gen throughput (token/s): {n}.42, #queue-req: {b}, \n"
)
PREFILL = (
    "[2026-12-01 13:18:55 TP0] Prefill batch, #new-seq: 1, #new-token: {n}, #cached-token: {b}, token usage: 0.31, "
    "#running-req: {a}, #queue-req: 0, #inflight-req: 2, \n"
)
USUAL = (
    (45, '[2026-12-01 13:18:55] INFO:     10.0.{a}.{b}:{n} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'),
    (30, DECODE),
    (20, PREFILL),
    (
        5,
        "[2026-12-01 13:18:55] Receive: obj=GenerateReqInput(rid='{n}', text='{words}', sampling_params={{}})\n",
    ),
)
WORDS = re.findall(
    r"\w+",
    """the size of our KV cache and pool of servers for input length canary release maximum serve launch model version
    tokens block context decode prefill of a to and report number with this log line system engine request""",
)
"""Prompts about the very thing: words of the stems, in any order."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One run of a program."""

    seconds: float
    peak_bytes: int
    out: bytes


def chunk(rng: random.Random) -> str:
    """Some ten megabytes of what a server prints all the time."""
    weights = [weight for weight, _line in USUAL]
    lines = []
    size = 0
    for number in itertools.count(1):
        if size >= CHUNK_BYTES:
            return "".join(lines)
        _weight, form = rng.choices(USUAL, weights)[0]
        form = REFUSED if number % 10_000 == 0 else form
        text = " ".join(rng.choices(WORDS, k=80)) if "{words}" in form else ""
        lines.append(form.format(n=rng.randrange(99_999), a=rng.randrange(64), b=rng.randrange(255), words=text))
        size += len(lines[-1])
    raise AssertionError


def server_log(size_bytes: int) -> Iterator[str]:
    """A start, half of the lines, another start, the other half."""
    part = chunk(random.Random(1))
    turns = max(size_bytes // len(part), 2)
    for turn in range(turns):
        if turn in {0, turns // 2}:
            yield SETTINGS + HEADLINE
        yield part


def refusals(size_bytes: int) -> Iterator[str]:
    """A start and refusals."""
    yield SETTINGS + HEADLINE
    part = "".join(REFUSED.format(n=700_000 + number) for number in range(100_000))
    for _turn in range(max(size_bytes // len(part), 1)):
        yield part


def rooms(size_bytes: int) -> Iterator[str]:
    """A start and failed checks."""
    rng = random.Random(2)
    yield SETTINGS + HEADLINE
    part = "".join(ROOM.format(n=n, a=rng.getrandbits(62), b=rng.getrandbits(62)) for n in range(100_000))
    for _turn in range(max(size_bytes // len(part), 1)):
        yield part


def timed(command: list[str], **environment: str) -> Timed:
    """Seconds, peak resident bytes and output of a process."""
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=os.environ | environment)
        _pid, _status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - began
        child.returncode = 0
        out.seek(0)
        return Timed(seconds, usage.ru_maxrss * 1024, out.read())


def measured(name: str, log: Path, stems: Path) -> str:
    """A row of the table."""
    megabytes = log.stat().st_size / MEGABYTE
    with log.open("rb") as source:
        while source.read(CHUNK_BYTES):
            pass
    expression = "|".join(re.escape(stem) for stem in stems.read_text("utf-8").splitlines())
    fixed = timed(["grep", "-c", "-F", "-f", str(stems), str(log)], LC_ALL="C")
    extended = timed(["grep", "-c", "-E", expression, str(log)], LC_ALL="C")
    audit = timed([sys.executable, "-m", "kvfence", "audit", "--format", "json", str(log)])
    nodes = json.loads(audit.out)["nodes"]
    if nodes[-1]["facts"]["pool_tokens"] != 681_280:  # noqa: PLR2004 — the headline above
        raise SystemExit(f"the headline was not found: {nodes[-1]['facts']}")
    speeds = [megabytes / run.seconds for run in (audit, fixed, extended)]
    return (
        f"{name:9} {megabytes:7.0f} {speeds[0]:8.0f} {speeds[1]:8.0f} {speeds[2]:8.0f} {speeds[0] / speeds[1]:9.2f} "
        f"{speeds[0] / speeds[2]:9.2f} {audit.peak_bytes / MEGABYTE:8.0f}"
    )


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--megabytes", type=int, default=1000, help="size of the server's log")
    options.add_argument("--folder", help="where the logs are written and removed again; the system's own by default")
    asked = options.parse_args()
    grep = subprocess.check_output(["grep", "--version"], text=True).splitlines()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {grep}, ", end="")
    print(f"load {os.getloadavg()[0]:.1f} before")
    print("MB/s of each, audit's share of each grep's, audit's peak memory in MB")
    print(f"{'log':9} {'MB':>7} {'audit':>8} {'grep -F':>8} {'grep -E':>8} {'of -F':>9} {'of -E':>9} {'peak':>8}")
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        stems = Path(folder, "stems")
        stems.write_bytes(b"\n".join(log_anchors().stems) + b"\n")
        for name, parts, share in (("server", server_log, 1), ("refusals", refusals, 10), ("rooms", rooms, 10)):
            log = Path(folder, f"{name}.log")
            with log.open("w", encoding="utf-8") as file:
                file.writelines(parts(asked.megabytes * MEGABYTE // share))
            print(measured(name, log, stems), flush=True)
            log.unlink()


if __name__ == "__main__":
    main()
