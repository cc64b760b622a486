"""Does a scan say the same in one process, in a pool, on Ray and on Spark, and how much faster are two workers?

    python benchmarks/scan_engines.py [--mb 400] [--engines pool ray spark]

The log is the made-up traffic of many tenants by which the scan is measured elsewhere. Each engine runs the real
program with one worker and with two; then once more with two, and a worker is killed as soon as a unit of work is done.
Reports are compared byte by byte. Seconds are of the clock, of the machine as it is: look at the ratio in a line.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.scan_corpus.plan import Plan
from support.scan_corpus.writing import write

OPTIONS = {
    "pool": lambda _workers: [],
    "ray": lambda _workers: ["--ray", "local"],
    "spark": lambda workers: ["--spark", f"local[{workers},4]"],
}
NAMES = {"pool": "multiprocessing", "ray": "ray::_RayWorker", "spark": "pyspark"}
"""What stands in the command line of a worker. Others of Ray's processes end the whole of it, with the program."""
SEED = 20_261_203


@dataclass(frozen=True)
class Run:
    """What one run of the program came to."""

    seconds: float
    digest: str
    killed: bool


def main() -> None:
    """Measure, and print a line for each engine."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mb", type=int, default=400)
    parser.add_argument("--engines", nargs="*", choices=OPTIONS, default=[*OPTIONS])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        made = write(Plan(seed=SEED, size_bytes=asked.mb * 1_000_000), corpus)
        log = made.logs[0]
        print(f"{made.exchanges:,} exchanges, {log.stat().st_size / 1e6:,.0f} MB, {os.cpu_count()} cores")
        print(f"{'engine':8} {'1 worker':>10} {'2 workers':>10} {'ratio':>6}  {'one killed':>10}  report")
        expected = ""
        for engine in asked.engines:
            one, two = (run(engine, workers, log, Path(folder)) for workers in (1, 2))
            killed = run(engine, 2, log, Path(folder), kill=True)
            expected = expected or one.digest
            same = {one.digest, two.digest, killed.digest} == {expected}
            print(
                f"{engine:8} {one.seconds:8.1f} s {two.seconds:8.1f} s {one.seconds / two.seconds:6.2f}  "
                f"{killed.seconds:8.1f} s  {'the same' if same else 'DIFFERS'}, "
                f"{'a worker was killed' if killed.killed else 'NO worker was killed'}",
                flush=True,
            )


def run(engine: str, workers: int, log: Path, folder: Path, *, kill: bool = False) -> Run:
    """Run the program on this engine."""
    work, report = folder / "work", folder / "report.json"
    command = [sys.executable, "-m", "kvfence", "scan", str(log), "--format", "json", "--output", str(report)]
    command += ["--work", str(work), "--workers", str(workers), "--fingerprint-key", str(folder / "key")]
    began = time.perf_counter()
    process = subprocess.Popen([*command, *OPTIONS[engine](workers)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    killed = kill and _kill_a_worker(engine, process, work)
    _, said = process.communicate()
    if process.returncode not in {0, 1, 3}:
        sys.exit(said.decode())
    return Run(time.perf_counter() - began, hashlib.sha256(report.read_bytes()).hexdigest(), killed)


def _kill_a_worker(engine: str, process: subprocess.Popen[bytes], work: Path) -> bool:
    while process.poll() is None:
        if any(work.glob("step-*/[0-9]*[0-9]")):
            for pid in _below(process.pid):
                if NAMES[engine] in _command_line(pid) and "resource_tracker" not in _command_line(pid):
                    os.kill(pid, signal.SIGKILL)
                    return True
        time.sleep(0.01)
    return False


def _below(pid: int) -> list[int]:
    found = []
    for child in Path(f"/proc/{pid}/task").glob("*/children"):
        for number in child.read_text().split():
            found += [*_below(int(number)), int(number)]
    return found


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    main()
