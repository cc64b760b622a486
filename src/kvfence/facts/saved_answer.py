"""A server's answer that somebody saved to a file (`curl …/server_info > prefill.json`): for servers out of reach.

Only what is one JSON object and has been seen whole is taken for one; lines of JSON are a log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from kvfence.facts.endpoints.pages import Fields
from kvfence.facts.endpoints.sglang import read_server_info
from kvfence.facts.fact import NodeFacts
from kvfence.facts.scan import Readable


def saved_nodes(content: bytes, *, file: str, name: str) -> tuple[NodeFacts, ...]:
    """The nodes in a saved `/server_info`; none where it is something else."""
    if not content.lstrip().startswith(b"{"):
        return ()
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return ()
    return read_server_info(Fields(file, answer), name) if isinstance(answer, dict) else ()


BYTES_MAX = 1 << 20
"""Those of 0.5.19 to 0.5.23 are 30 to 40 KB, with one entry more for each DP rank."""


@dataclass(slots=True)
class Reread:
    """A source of which the beginning was taken already."""

    taken: bytes
    rest: Readable

    def read(self, size: int, /) -> bytes:
        """What was taken first, then the rest."""
        if not self.taken:
            return self.rest.read(size)
        block, self.taken = self.taken[:size], self.taken[size:]
        return block
