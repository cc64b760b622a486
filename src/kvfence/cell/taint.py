"""The taint oracle: a shadow of the pool that knows whose bytes each slot holds. For tests and `--taint` only.

It shares no code with core and asks it nothing: drivers tell it what they wrote, and it follows the bytes wherever
they are copied. It raises the moment that a read touches another tenant's slot.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

NOBODY = 0


class Oracle(StrEnum):
    """What the oracle does with a foreign read."""

    OFF = "off"
    RAISE = "raise"
    RECORD = "record"
    """Count it and let the read go on: to see that the oracle and the answer agree."""


class _Numbers:
    """Tenants by number, the same for every shadow of this process, from 1."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_name: dict[str, int] = {}

    def of(self, tenant: str) -> int:
        with self._lock:
            return self._by_name.setdefault(tenant, len(self._by_name) + 1)

    def names(self, numbers: NDArray[np.int32]) -> list[str]:
        with self._lock:
            by_number = {number: name for name, number in self._by_name.items()}
        return [by_number.get(int(number), "") for number in numbers]


_TENANTS = _Numbers()


class TaintError(AssertionError):
    """A read touched another tenant's slot. Names places, and tenants by number; never text."""


class Taint(Protocol):
    """What `PagedKV` tells the oracle."""

    def wrote(self, page_table: Sequence[int] | NDArray[np.int64], start: int, stop: int, tenant: str) -> None:
        """Slots [start, stop) of this page table now hold `tenant`'s."""
        ...

    def read(self, page_table: Sequence[int] | NDArray[np.int64], length: int, tenant: str) -> None:
        """Slots [0, length) are about to be read for `tenant`. Raises `TaintError`."""
        ...

    def copied(self, source: Taint, source_ids: Sequence[int], own_ids: Sequence[int]) -> None:
        """Own pages now hold what the source's pages hold."""
        ...

    def scrubbed(self, page_ids: Sequence[int]) -> None:
        """These pages are cleared."""
        ...

    def packed(self, page_ids: Sequence[int]) -> bytes:
        """The shadow of these pages, to travel behind their bytes."""
        ...

    def packed_bytes(self, pages: int) -> int:
        """How long `packed` is for so many pages."""
        ...

    def unpacked(self, page_ids: Sequence[int], data: bytes) -> None:
        """Take over a shadow that travelled."""
        ...

    def owners(self, page_ids: Sequence[int]) -> list[str]:
        """The tenant in each page's first slot; empty for nobody."""
        ...


class NoTaint:
    """The oracle is off: nothing is known and nothing costs."""

    def wrote(self, page_table: Sequence[int] | NDArray[np.int64], start: int, stop: int, tenant: str) -> None:
        """Off."""

    def read(self, page_table: Sequence[int] | NDArray[np.int64], length: int, tenant: str) -> None:
        """Off."""

    def copied(self, source: Taint, source_ids: Sequence[int], own_ids: Sequence[int]) -> None:
        """Off."""

    def scrubbed(self, page_ids: Sequence[int]) -> None:
        """Off."""

    def packed(self, page_ids: Sequence[int]) -> bytes:
        """Off."""
        del page_ids
        return b""

    def packed_bytes(self, pages: int) -> int:
        """Off."""
        del pages
        return 0

    def unpacked(self, page_ids: Sequence[int], data: bytes) -> None:
        """Off."""

    def owners(self, page_ids: Sequence[int]) -> list[str]:
        """Off."""
        return [""] * len(page_ids)


NO_TAINT = NoTaint()


class TaintShadow:
    """One tenant number a slot; 0 is nobody."""

    def __init__(self, slots: NDArray[np.int32], oracle: Oracle = Oracle.RAISE) -> None:
        self.slots = slots
        self._oracle = oracle
        self.owners_read: dict[int, list[str]] = {}
        self.foreign_reads = 0
        """How many reads touched another tenant's slot, where the oracle only records."""
        self._page_size = slots.shape[1]

    @classmethod
    def private(cls, pages: int, page_size: int, oracle: Oracle = Oracle.RAISE) -> TaintShadow:
        """A shadow of a pool in this process."""
        return cls(np.zeros((pages, page_size), dtype=np.int32), oracle)

    def wrote(self, page_table: Sequence[int] | NDArray[np.int64], start: int, stop: int, tenant: str) -> None:
        """Slots [start, stop) of this page table now hold `tenant`'s."""
        number = _TENANTS.of(tenant)
        for at in range(start // self._page_size, -(-stop // self._page_size)):
            low, high = max(start - at * self._page_size, 0), min(stop - at * self._page_size, self._page_size)
            self.slots[page_table[at], low:high] = number

    def read(self, page_table: Sequence[int] | NDArray[np.int64], length: int, tenant: str) -> None:
        """Raise `TaintError` if one of slots [0, length) holds another tenant's bytes."""
        number = _TENANTS.of(tenant)
        pages = np.asarray(page_table[: -(-length // self._page_size)], dtype=np.int64)
        seen = self.slots[pages].reshape(-1)[:length]
        if self._oracle is Oracle.RECORD:
            self._note_owners(number, seen)
        foreign = np.flatnonzero((seen != number) & (seen != NOBODY))
        if foreign.size:
            at = int(foreign[0])
            self._met(
                f"{foreign.size} slots of another tenant read for tenant {number}; the first, slot "
                f"{at % self._page_size} of page {pages[at // self._page_size]}, holds tenant {seen[at]}'s"
            )

    def _note_owners(self, number: int, seen: NDArray[np.int32]) -> None:
        """Whose slot stands first in each page of the tenant's first read: for a picture of its page table."""
        if number not in self.owners_read:
            self.owners_read[number] = _TENANTS.names(seen[:: self._page_size])

    def owners_of_first_read(self, tenant: str) -> list[str]:
        """Whose bytes the pages held that were first read for `tenant`, in page-table order; recording only."""
        return self.owners_read.get(_TENANTS.of(tenant), [])

    def _met(self, what: str) -> None:
        if self._oracle is Oracle.RAISE:
            raise TaintError(what)
        self.foreign_reads += 1

    def copied(self, source: Taint, source_ids: Sequence[int], own_ids: Sequence[int]) -> None:
        """Own pages now hold what the source's pages hold."""
        if isinstance(source, TaintShadow):
            self.slots[list(own_ids)] = source.slots[list(source_ids)]

    def scrubbed(self, page_ids: Sequence[int]) -> None:
        """These pages are nobody's."""
        self.slots[list(page_ids)] = NOBODY

    def packed(self, page_ids: Sequence[int]) -> bytes:
        """The shadow of these pages."""
        return self.slots[list(page_ids)].tobytes()

    def packed_bytes(self, pages: int) -> int:
        """One tenant number a slot."""
        return pages * int(self.slots[0].nbytes)

    def unpacked(self, page_ids: Sequence[int], data: bytes) -> None:
        """Take over a shadow that travelled."""
        self.slots[list(page_ids)] = np.frombuffer(data, np.int32).reshape(-1, self._page_size)

    def owners(self, page_ids: Sequence[int]) -> list[str]:
        """The tenant in each page's first slot; empty for nobody."""
        return _TENANTS.names(self.slots[list(page_ids), 0])
