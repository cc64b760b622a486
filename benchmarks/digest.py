"""How fast is a digest of pages? GB/s over one buffer, beside a plain copy and the checks that others use.

Every row is measured over the same buffer in the same run, once as a whole and once page by page (64 slots of 576
bytes, as the cell has them), median of several passes.

    python benchmarks/digest.py [--mib 256] [--passes 7]
"""

from __future__ import annotations

import argparse
import hashlib
import platform
import statistics
import time
import zlib
from collections.abc import Callable

import crc32c
import numpy as np
import xxhash

PAGE_BYTES = 64 * 576

Digester = Callable[[memoryview], object]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--passes", type=int, default=7)
    options = parser.parse_args()
    buffer = np.random.default_rng(1).integers(0, 256, options.mib << 20, dtype=np.uint8)
    target = np.empty_like(buffer)
    view, into = memoryview(buffer), memoryview(target)
    key = b"k" * 16
    rows: dict[str, Digester] = {
        "plain copy": lambda part: into[: len(part)].__setitem__(slice(None), part),
        "XXH3-128, seeded": lambda part: xxhash.xxh3_128_digest(part, 7),
        "CRC-32C": crc32c.crc32c,
        "Adler-32 (zlib)": zlib.adler32,
        "SHA-256": lambda part: hashlib.sha256(part).digest(),
        "BLAKE2b-128, keyed": lambda part: hashlib.blake2b(part, digest_size=16, key=key).digest(),
    }
    print(f"{platform.machine()}, Python {platform.python_version()}, {options.mib} MiB, xxhash {xxhash.VERSION}, "
          f"CRC-32C in {'hardware' if crc32c.hardware_based else 'software'}")  # fmt: skip
    print(f"{'':<20} {'bits':>5} {'whole GB/s':>11} {'by page GB/s':>13} {'of the copy, by page':>21}")
    by_page = {name: speed(digest, pages(view), options.passes) for name, digest in rows.items()}
    for name, digest in rows.items():
        whole = speed(digest, [view], options.passes)
        bits = {"plain copy": "-", "CRC-32C": 32, "Adler-32 (zlib)": 32, "SHA-256": 256}.get(name, 128)
        ratio = by_page[name] / by_page["plain copy"]
        print(f"{name:<20} {bits:>5} {whole:>11.2f} {by_page[name]:>13.2f} {ratio:>20.2f}x")


def pages(view: memoryview) -> list[memoryview]:
    """The buffer in pages."""
    return [view[start : start + PAGE_BYTES] for start in range(0, len(view) - PAGE_BYTES + 1, PAGE_BYTES)]


def speed(digest: Digester, parts: list[memoryview], passes: int) -> float:
    """Median GB/s over all parts; the first pass warms up and is left out."""
    size = sum(len(part) for part in parts)
    times = []
    for _ in range(passes + 1):
        started = time.perf_counter()
        for part in parts:
            digest(part)
        times.append(time.perf_counter() - started)
    return size / statistics.median(times[1:]) / 1e9


if __name__ == "__main__":
    main()
