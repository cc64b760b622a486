"""The pass that says of each exchange whose it is and when it was, by keyed numbers; and the table made of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kvfence.scan.foreign.windows import Hashes, Offsets
from kvfence.scan.passing.scan_pass import Kernel

NEVER_BEGAN = -(2**63)
"""Where a log says no time: no request is later than this one, and it is later than none."""
NEVER_ENDED = 2**63 - 1
ANSWER_MS = 1000
"""Where a log does not say when an answer ended, a source has begun no later than its request, to the second: what
began later is most often a next step that repeats the answer."""
NOBODY = 0
"""The owner of an exchange of which the log says neither tenant nor session."""
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Isolation(StrEnum):
    """Whose text must not be seen by whom."""

    TENANT = "tenant"
    """A session is taken where a log names no tenant."""
    SESSION = "session"
    """Each tenant's sessions are kept apart as well; the tenant is taken where there is no session."""


EXCHANGE = np.dtype(
    [
        ("place", "<u8"),
        ("line", "<i8"),
        ("owner", "<u8"),
        ("began", "<i8"),
        ("end", "<i8"),
        ("prompt_bytes", "<i8"),
        ("answer_bytes", "<i8"),
    ]
)
Exchanges = npt.NDArray[np.void]
"""Of `EXCHANGE`, in the order of their places."""
_OFFSET_BITS = 44


def places_of(batch: pa.RecordBatch) -> Hashes:
    """Source and offset as one number that keeps the order of both: 2^20 sources of up to 16 TiB."""
    sources = batch["source"].to_numpy().astype(np.uint64)
    return cast("Hashes", (sources << np.uint64(_OFFSET_BITS)) | batch["offset"].to_numpy().astype(np.uint64))


def source_and_offset(place: int) -> tuple[int, int]:
    """The two again."""
    return place >> _OFFSET_BITS, place & (2**_OFFSET_BITS - 1)


OWNERS = pa.schema(
    [
        pa.field("source", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("tenant", pa.uint64(), nullable=False),
        pa.field("session", pa.uint64(), nullable=False),
        pa.field("began_ms", pa.int64()),
        pa.field("ended_ms", pa.int64()),
        pa.field("prompt_bytes", pa.int64(), nullable=False),
        pa.field("answer_bytes", pa.int64(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeOwners:
    """One row for each exchange: where it is, who asked (keyed numbers), when, and how much was said."""

    key: int

    @property
    def name(self) -> str:
        """See `Pass`."""
        return "exchange owners"

    @property
    def output(self) -> pa.Schema:
        """See `Pass`."""
        return OWNERS

    def ready(self) -> Kernel:
        """See `Pass`."""
        return self._rows

    def _rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns: dict[str, Any] = {name: batch[name] for name in ("source", "offset", "line", "began_ms", "ended_ms")}
        columns["tenant"] = numbers_of(batch["tenant"], self.key)
        columns["session"] = numbers_of(batch["session"], self.key ^ 1)
        for part in ("prompt", "answer"):
            columns[f"{part}_bytes"] = pc.binary_length(batch[part])
        return pa.RecordBatch.from_arrays([columns[name] for name in OWNERS.names], schema=OWNERS)


def numbers_of(names: pa.StringArray, key: int) -> pa.UInt64Array:
    """A keyed number for each name, never `NOBODY`; `NOBODY` where there is none."""
    encoded = names.dictionary_encode()
    numbers = np.array([_number(name, key) for name in encoded.dictionary.to_pylist()] or [NOBODY], np.uint64)
    indices = pc.fill_null(encoded.indices, 0).to_numpy()
    return pa.array(np.where(names.is_null().to_numpy(zero_copy_only=False), np.uint64(NOBODY), numbers[indices]))


def owners_of(tenant: Hashes, session: Hashes, isolation: Isolation) -> Hashes:
    """Whose each exchange is, from the numbers of both."""
    if isolation is Isolation.TENANT:
        return np.where(tenant == NOBODY, session, tenant)
    both = session ^ (tenant * _ODD)  # two tenants may name their sessions alike
    return np.where(session == NOBODY, tenant, np.where(both == NOBODY, np.uint64(1), both))


def owner_numbers(batch: pa.RecordBatch, key: int, isolation: Isolation) -> Hashes:
    """Whose each exchange of a batch of exchanges is."""
    tenant, session = numbers_of(batch["tenant"], key).to_numpy(), numbers_of(batch["session"], key ^ 1).to_numpy()
    return owners_of(tenant, session, isolation)


def began_of(batch: pa.RecordBatch) -> Offsets:
    """When each began, `NEVER_BEGAN` where a log does not say."""
    return _times(batch, "began_ms", NEVER_BEGAN)


def exchange_table(rows: Iterable[pa.RecordBatch], asked: Isolation | None) -> tuple[Exchanges, Isolation]:
    """The rows of the pass as one table, and what keeps their owners apart.

    Where nothing is asked for it is the tenant, or the session, if there is only one tenant.
    """
    parts = [_part(batch) for batch in rows]
    tenants = {int(number) for table, _ in parts for number in np.unique(table["owner"])} - {NOBODY}
    isolation = asked or (Isolation.TENANT if len(tenants) != 1 else Isolation.SESSION)
    for table, sessions in parts:
        table["owner"] = owners_of(table["owner"], sessions, isolation)
    whole = np.concatenate([table for table, _ in parts]) if parts else np.empty(0, EXCHANGE)
    return whole[np.argsort(whole["place"], kind="stable")], isolation


def read_exchanges(path: Path) -> Exchanges:
    """The table that was written there, mapped."""
    return np.asarray(np.memmap(path, EXCHANGE, "r")) if path.stat().st_size else np.empty(0, EXCHANGE)


def ordinals(exchanges: Exchanges, places: Hashes) -> Offsets:
    """The rows of the table that stand at these places."""
    return np.searchsorted(exchanges["place"], places)


def _part(batch: pa.RecordBatch) -> tuple[Exchanges, Hashes]:
    table = np.empty(batch.num_rows, EXCHANGE)
    table["place"], table["line"] = places_of(batch), batch["line"].to_numpy()
    table["owner"], table["began"] = batch["tenant"].to_numpy(), began_of(batch)
    known = np.where(table["began"] == NEVER_BEGAN, NEVER_ENDED - ANSWER_MS, table["began"]) + ANSWER_MS
    ended = _times(batch, "ended_ms", NEVER_ENDED)
    table["end"] = np.where(ended == NEVER_ENDED, known, ended)
    for part in ("prompt_bytes", "answer_bytes"):
        table[part] = batch[part].to_numpy()
    return table, batch["session"].to_numpy()


def _times(batch: pa.RecordBatch, name: str, unknown: int) -> Offsets:
    return cast("Offsets", pc.fill_null(batch[name], unknown).to_numpy())


def _number(name: str, key: int) -> int:
    made = blake2b(name.encode(errors="replace"), digest_size=8, key=key.to_bytes(8, "little")).digest()
    return int.from_bytes(made, "little") or 1
