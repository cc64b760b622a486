"""A small log, and passes that misbehave in the ways that real ones might."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from kvfence.scan.passing.scan_pass import Kernel


def lines_of_log(number: int, padding: int = 50) -> str:
    records = (
        {"id": f"r{at}", "created": at, "request": {"prompt": f"question {at}" + "x" * padding}, "response": "yes"}
        for at in range(number)
    )
    return "".join(json.dumps(one) + "\n" for one in records)


@dataclass(frozen=True, slots=True)
class Lengths:
    """A row a request: where it stands and how long its prompt is. It dies once where `dies_once` names a file."""

    dies_once: Path | None = None
    dies_always: bool = False
    ballast: bytes = b""
    """What a pass has with it, such as a compiled database."""

    @property
    def name(self) -> str:
        return "lengths"

    @property
    def output(self) -> pa.Schema:
        return pa.schema([("offset", pa.int64()), ("length", pa.int64())])

    def ready(self) -> Kernel:
        return self._rows

    def _rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.dies_always or self._is_first_to_die():
            os.kill(os.getpid(), signal.SIGKILL)
        lengths = [len(prompt) for prompt in batch["prompt"].to_pylist()]
        return pa.RecordBatch.from_arrays([batch["offset"], pa.array(lengths, pa.int64())], schema=self.output)

    def _is_first_to_die(self) -> bool:
        if self.dies_once is None:
            return False
        try:
            self.dies_once.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True
