"""How much of planted foreign text `kvfence scan` finds, and how much that is none it takes for it.

A corpus of a held-out seed is made up, the real program reads it, and its report is held against the truth. Writes
docs/scan-truth.json, of which `make docs` makes docs/scan-truth.md. About two minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.scan_corpus.judging import Judged, judged
from support.scan_corpus.plan import Garbling, Kind, Plan
from support.scan_corpus.writing import Corpus, write

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "docs" / "scan-truth.json"
HELD_OUT = 20_261_203
"""No test uses this seed, and nothing was chosen by what it gave."""
RUNS = ((0, 59), (60, 63), (64, 70), (71, 1_000), (1_001, 20_000))
"""Bounds of the longest run that is left of a span, in bytes."""


def scanned(corpus: Corpus, folder: Path) -> tuple[dict[str, Any], float]:
    """The program's report, and how long it took."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "kvfence", "scan", *map(str, corpus.logs), "--format", "json", "-o", str(report)]
    began = time.monotonic()
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    if ran.returncode not in {0, 1, 3}:
        raise SystemExit(ran.stderr)
    return json.loads(report.read_bytes()), took


def rows(found: Judged) -> list[dict[str, Any]]:
    """Of each garbling and each length of the longest run: planted and found. Other sessions of a tenant apart."""
    cells: Counter[tuple[str, int, bool]] = Counter()
    for leak, is_found in found.leaks:
        name = str(leak.garbling) if leak.across_tenants else "another session of the same tenant"
        at = next(number for number, (_, most) in enumerate(RUNS) if leak.run_bytes <= most)
        cells[name, at, is_found] += 1
    names = [*map(str, Garbling), "another session of the same tenant"]
    return [
        {
            "what": name,
            "cells": [
                [cells[name, at, True] + cells[name, at, False], cells[name, at, True]] for at in range(len(RUNS))
            ],
        }
        for name in names
    ]


def document(plan: Plan, folder: Path) -> dict[str, Any]:
    """One corpus from end to end."""
    corpus = write(plan, folder)
    report, took = scanned(corpus, folder)
    known = list(corpus.known())
    found = judged(known, report["matches"])
    promised = found.promised
    return {
        "plan": asdict(plan),
        "exchanges": corpus.exchanges,
        "megabytes": round(corpus.size_bytes / 1e6),
        "read": report["requests"],
        "kinds": {str(kind): sum(one.kind is kind for one in known) for kind in Kind},
        "promised": len(promised),
        "promised_found": sum(is_found for _, is_found in promised),
        "missed": [asdict(leak) for leak in found.missed],
        "matches": len(report["matches"]),
        "right": found.right,
        "precision": found.precision,
        "wrong": dict(found.wrong_by_kind()),
        "runs": RUNS,
        "rows": rows(found),
        "seconds": round(took, 1),
    }


def main() -> None:
    """Measure, tell, and write it down where that is asked for."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    options.add_argument("--seed", type=int, default=HELD_OUT)
    options.add_argument("--megabytes", type=float, default=64)
    options.add_argument("--tenants", type=int, default=60)
    options.add_argument("--leaks", type=float, default=0.25, help="of the answers that could carry one")
    options.add_argument("--prompt-bytes", type=int, default=3000)
    options.add_argument("--write", action="store_true", help=f"write {STORED.name}")
    asked = options.parse_args()
    plan = Plan(
        seed=asked.seed,
        size_bytes=int(asked.megabytes * 1e6),
        tenants=asked.tenants,
        leaks=asked.leaks,
        prompt_bytes=asked.prompt_bytes,
    )
    with tempfile.TemporaryDirectory() as made:
        told = document(plan, Path(made))
    told["machine"] = (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    print(json.dumps(told, indent=1))
    if asked.write:
        STORED.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
