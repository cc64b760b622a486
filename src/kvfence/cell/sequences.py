"""One running answer: attention over its page table, one token at a time, until a stop text or the limit."""

from __future__ import annotations

from typing import Literal

import numpy as np

from kvfence.cell.frames import Work
from kvfence.cell.paged_kv import PagedKV
from kvfence.core.actions import StartDecoding

SUFFIX_BYTES = 8
"""How far back the induction model looks."""


class Sequence:
    """Grows by one token for each `advance`. Holds back what may turn out to be the start of a stop text."""

    def __init__(self, start: StartDecoding, work: Work, tenant: str) -> None:
        self._pages = np.asarray(start.table.pages, dtype=np.int64)
        self._length = start.table.readable_tokens
        self._max_new_tokens = start.max_new_tokens
        self._tenant = tenant
        self._stop = tuple(stop for stop in work.stop if stop)
        self._hold = max((len(stop) for stop in self._stop), default=1) - 1
        self._tail = work.prompt[-SUFFIX_BYTES:]
        self._unsent = bytearray()
        self.prompt_tokens = len(work.prompt)
        self.completion_tokens = 0
        self.cached_tokens = start.cached_tokens
        self.foreign_reads = 0
        """How many tokens were made from another tenant's slots, where a recording oracle sees it."""
        self.reason: Literal["stop", "length"] | None = None

    def advance(self, kv: PagedKV) -> bytes:
        """Read the pages, write the new token's slot, return what can be sent now."""
        seen = kv.foreign_reads
        token = kv.next_token(self._pages, self._length, self._tail, self._tenant)
        self.foreign_reads += kv.foreign_reads - seen
        kv.append(self._pages, self._length, self._tail, token, self._tenant)
        self._length += 1
        self.completion_tokens += 1
        self._tail = (self._tail + bytes((token,)))[-SUFFIX_BYTES:]
        self._unsent.append(token)
        return self._sendable()

    def _sendable(self) -> bytes:
        for stop in self._stop:
            at = self._unsent.find(stop)
            if at >= 0:
                self.reason = "stop"
                return bytes(self._unsent[:at])
        if self.completion_tokens == self._max_new_tokens:
            self.reason = "length"
            return bytes(self._unsent)
        ready = max(len(self._unsent) - self._hold, 0)
        piece = bytes(self._unsent[:ready])
        del self._unsent[:ready]
        return piece
