"""What is run over the exchanges: a pass makes a kernel in each process, and a kernel makes rows of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pyarrow as pa

Kernel = Callable[[pa.RecordBatch], pa.RecordBatch]
"""From a batch of `EXCHANGES` to a batch of the pass's `output`: the same of the same, and in the order of the rows."""


class Pass(Protocol):
    """A frozen value that can be pickled. No row of its output holds a text or a secret, but places, sizes, hashes."""

    @property
    def name(self) -> str:
        """Of the file that its rows are written to."""

    @property
    def output(self) -> pa.Schema:
        """Of the rows."""

    def ready(self) -> Kernel:
        """Called once in each process: what is slow to set up is set up here."""
