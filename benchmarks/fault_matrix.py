"""Faults by layers: every fault with every layer alone, made in the cell or searched by the checker.

Writes docs/fault-matrix.json; `make docs` draws it. About two minutes on one core.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from kvfence.cell.fault_matrix import COLUMNS, FAULTS, outcome

STORED = Path(__file__).resolve().parent.parent / "docs" / "fault-matrix.json"


def main() -> None:
    """Run it all, a row at a time."""
    began = perf_counter()
    rows = []
    for fault in FAULTS:
        cells = [outcome(fault, column) for column in COLUMNS]
        rows.append(
            {"fault": fault.name, "what": fault.what, "by": fault.by, "cells": [asdict(cell) for cell in cells]}
        )
        shown = "  ".join(f"{cell.column} {'TW'[not cell.foreign] if cell.wrong else '-'}" for cell in cells)
        sys.stdout.write(f"{fault.name:34} {shown}\n")
    document = {"seconds": round(perf_counter() - began), "columns": list(COLUMNS), "rows": rows}
    STORED.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
