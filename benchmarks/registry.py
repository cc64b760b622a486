"""How large is a registry of so many markers, and how long does a look-up in it take?

    python benchmarks/registry.py [MARKERS …]

Writes the file as campaigns do, five markers a prompt, first a hundred prompts one transaction each, as they are
planted, then the rest as a merge does. Looks up markers by their pieces, whole and cut, known and not.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from kvfence.probe.markers import ALPHABET, pieces_in
from kvfence.probe.registry.merging import AT_ONCE, merge
from kvfence.probe.registry.planted import PlantedPrompt, known_campaign
from kvfence.probe.registry.registry_file import RegistryFile

DEPTHS = 5
PLANTED = 100
LOOKUPS = 2_000


def marker(rng: random.Random) -> str:
    """As one looks."""
    return "-".join("".join(rng.choices(ALPHABET, k=5)) for _ in range(5))


def prompts(count: int, campaign: str) -> Iterator[PlantedPrompt]:
    """Always the same."""
    rng = random.Random(1)
    for request in range(count):
        yield PlantedPrompt(
            campaign=campaign,
            tenant="tenant-a",
            request=request,
            tokens=4096,
            planted_ms=1_790_000_000_000 + request,
            markers=tuple(marker(rng) for _ in range(DEPTHS)),
        )


def ms(times: list[float]) -> str:
    """Half of them, and all but one of a hundred, take no longer."""
    return f"{1e3 * median(times):.2f} ms median, {1e3 * quantiles(times, n=100)[-1]:.2f} ms p99"


def measure(markers: int, folder: Path) -> None:
    """Print the figures of one registry."""
    path = folder / f"{markers}.sqlite"
    known = known_campaign(b"key", 1, "http://127.0.0.1:8000/v1", "a-model")
    made = prompts(markers // DEPTHS, known.id)
    planting, some = [], []
    with RegistryFile(path) as registry:
        registry.begin(known)
        for _, prompt in zip(range(PLANTED), made, strict=False):
            some.append(prompt.markers[0])
            began = time.perf_counter()
            registry.plant(prompt)
            planting.append(time.perf_counter() - began)
        while part := [prompt for _, prompt in zip(range(AT_ONCE), made, strict=False)]:
            some.append(part[0].markers[-1])
            registry.plant_all(part)
        known_ones, strangers = [], []
        rng = random.Random(2)
        for number in range(LOOKUPS):
            text = some[number % len(some)]
            for took, pieces in (
                (known_ones, pieces_in(text if number % 2 else text[6:17])),
                (strangers, pieces_in(marker(rng))),
            ):
                began = time.perf_counter()
                found = registry.whose(pieces)
                took.append(time.perf_counter() - began)
                assert bool(found) is (took is known_ones)
    began = time.perf_counter()
    merge([path], folder / "merged")
    merged_s = time.perf_counter() - began
    print(
        f"{markers:,} markers: {path.stat().st_size / 1e6:.1f} MB, {path.stat().st_size / markers:.0f} bytes a marker"
    )
    print(f"  a prompt is planted in {ms(planting)}")
    print(f"  a known marker is found in {ms(known_ones)}; a stranger is not in {ms(strangers)}")
    print(f"  merged into an empty one in {merged_s:.1f} s")
    (folder / "merged").unlink()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=".") as place:
        for size in map(int, sys.argv[1:] or ["100000", "1000000"]):
            measure(size, Path(place))
