"""How fast does `kvfence audit` read a log that is almost only noise, and how much memory does it take?

Two kinds of noise: access lines, which hold none of the stems that the search looks for, and refusals, of which every
single one must be understood. Beside them, the same bytes through `wc -l`, which only counts newlines.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ACCESS = b'[2026-12-01 13:18:55] INFO:     127.0.0.1:41738 - "POST /generate HTTP/1.1" 200 OK user=%07d\n'
REFUSED = (
    b"[2026-12-01 13:18:58] Input length (%d tokens) exceeds the maximum allowed length (681274 tokens). "
    b"Use a shorter input or enable --allow-auto-truncate., self.rid='B-a1-623101029'\n"
)
HEADLINE = (
    b"[2026-12-01 13:18:54] max_total_num_tokens=681280, chunked_prefill_size=8192, max_prefill_tokens=16384, "
    b"max_running_requests=64, context_len=1048576, available_gpu_mem=19.14 GB\n"
)
MEBIBYTE = 1 << 20


def write(path: Path, line: bytes, size_mib: int) -> None:
    """A log of that size with one headline in its middle."""
    block = b"".join(line % number for number in range(8 * MEBIBYTE // len(line % 0)))
    with path.open("wb") as log:
        for turn in range(size_mib // 8):
            log.write(block)
            if turn == size_mib // 16:
                log.write(HEADLINE)


def timed(command: list[str]) -> tuple[float, int, bytes]:
    """Seconds, peak resident bytes and output of a process."""
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=out)
        _pid, _status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - began
        child.returncode = 0
        out.seek(0)
        return seconds, usage.ru_maxrss * 1024, out.read()


def main() -> None:
    """Print the table."""
    size_mib = int(sys.argv[1]) if len(sys.argv) > 1 else 2048
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{'noise':8} {'MiB':>6} {'audit s':>8} {'MB/s':>6} {'peak MiB':>9} {'wc -l s':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "noise.log")
        for name, line in (("access", ACCESS), ("refusals", REFUSED)):
            write(path, line, size_mib)
            counted, _peak, _out = timed(["wc", "-l", str(path)])
            seconds, peak, out = timed([sys.executable, "-m", "kvfence", "audit", "--format", "json", str(path)])
            (node,) = json.loads(out)["nodes"]
            if node["facts"]["pool_tokens"] != 681_280:  # noqa: PLR2004 — the headline above
                raise SystemExit(f"the headline was not found: {node['facts']}")
            speed = path.stat().st_size / 1e6 / seconds
            ratio = seconds / counted
            print(
                f"{name:8} {size_mib:6} {seconds:8.1f} {speed:6.0f} {peak / MEBIBYTE:9.0f} {counted:8.1f} {ratio:6.1f}"
            )


if __name__ == "__main__":
    main()
