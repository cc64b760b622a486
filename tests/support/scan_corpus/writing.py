"""A corpus on disk: logs in the plain form, and beside them what is known of them. Written as it is made up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.scan_corpus.bodies import line
from support.scan_corpus.plan import Garbling, Kind, Plan, Truth
from support.scan_corpus.traffic import Traffic


@dataclass(frozen=True, slots=True)
class Corpus:
    """Where it is."""

    logs: tuple[Path, ...]
    truth: Path
    exchanges: int
    size_bytes: int

    def known(self) -> Iterator[Truth]:
        """What is known, in the order of the logs."""
        with self.truth.open("rb") as rows:
            for row in map(json.loads, rows):
                row["kind"] = Kind(row["kind"])
                row["garbling"] = row["garbling"] and Garbling(row["garbling"])
                yield Truth(**row)


def lines(plan: Plan) -> Iterator[tuple[bytes, list[Truth]]]:
    """Each exchange as a line, with what is known of it."""
    size = 0
    for draft, known in Traffic(plan).exchanges():
        made = line(draft)
        yield made, known
        size += len(made)
        if size >= plan.size_bytes:
            return


def write(plan: Plan, folder: Path, *, file_bytes: int = 1 << 40) -> Corpus:
    """Write it there, in files of about so many bytes. Memory does not grow with its size."""
    truth = folder / "truth.jsonl"
    logs: list[Path] = []
    count, size, in_file = 0, 0, file_bytes
    log = None
    with truth.open("wb") as told:
        for made, known in lines(plan):
            if in_file >= file_bytes:
                if log:
                    log.close()
                logs.append(folder / f"log-{len(logs):03d}.jsonl")
                log, in_file = logs[-1].open("wb", buffering=1 << 20), 0
            assert log is not None
            log.write(made)
            told.writelines(json.dumps(one.row()).encode() + b"\n" for one in known)
            count, size, in_file = count + 1, size + len(made), in_file + len(made)
    if log:
        log.close()
    return Corpus(tuple(logs), truth, count, size)
