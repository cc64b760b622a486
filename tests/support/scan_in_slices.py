"""A scan in small units of work, as a program that can be killed: LOG WORK REPORT."""

from __future__ import annotations

import sys
from pathlib import Path

from kvfence.report.as_text import json_text
from kvfence.report.scan_json import document
from kvfence.scan.examine import Asked, Means, examined
from kvfence.scan.passing import choice
from kvfence.scan.passing.choice import Processes
from kvfence.scan.reading.inputs import sources_of

KEY = bytes(range(32))


def main(log: str, work: str, report: str) -> None:
    choice.FEW_BYTES = 0  # a pool, though it is little
    means = Means(where=Processes(2), work=Path(work), rules=Path(work).parent, unit_bytes=20_000)
    seen = examined(sources_of([log]), Asked(fingerprint_key=KEY), means)
    Path(report).write_text(json_text(document(seen)))


if __name__ == "__main__":
    main(*sys.argv[1:])
