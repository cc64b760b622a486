"""From rows of secrets to what has to be rotated: each value once, whoever said it and wherever it stood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from kvfence.findings.exposure import Credential
from kvfence.scan.credentials.secret_pass import SECRETS

MEMORY = "512MB"
_ROWS = 8192

_LOADED = """
create table found as select nth, fingerprint, tenant, began_ms, exposed, in_prompt, in_own_prompt, kind, redacted, id
from rows
"""
_FOREIGN = """
create table foreign_rows as
with answered as (
    select nth, fingerprint, tenant, began_ms from found
    where not in_prompt and not in_own_prompt and tenant is not null
), of_tenants as (
    select fingerprint, tenant, min(coalesce(began_ms, -4611686018427387904)) as had_ms,
        min(began_ms) filter (in_prompt) as sent_ms
    from found semi join answered using (fingerprint) where tenant is not null group by all
), earliest as (
    -- the two tenants who had it first: one of them is another than any that is asked about
    select * from of_tenants
    qualify row_number() over (partition by fingerprint order by had_ms, tenant) <= 2
)
select distinct answered.nth
from answered join earliest using (fingerprint) join of_tenants as own
    on own.fingerprint = answered.fingerprint and own.tenant = answered.tenant
where earliest.tenant <> answered.tenant and earliest.had_ms <= coalesce(answered.began_ms, 4611686018427387904)
    and not coalesce(own.sent_ms <= answered.began_ms, false)
"""
"""An answer has another's secret: it is not in its own prompt, another tenant's text had it before, and its own tenant
had not sent it by then. A time that a log does not say excludes nothing; a tenant that it does not say claims
nothing."""

_COUNTED = """
create view counted as select * from (
    select found.*, foreign_rows.nth is not null as is_foreign from found left join foreign_rows using (nth)
) where exposed or is_foreign
"""
_EACH = """
create table each as
with owners as (
    select fingerprint, arg_min(tenant, (coalesce(began_ms, 4611686018427387904), nth)) as owner
    from found where in_prompt and tenant is not null group by fingerprint
)
select fingerprint, min(nth) as place, arg_min(kind, nth) as kind, arg_min(redacted, nth) as redacted,
    min(began_ms) as first_ms, max(began_ms) as last_ms, bool_or(is_foreign) as is_foreign, any_value(owner) as owner
from counted left join owners using (fingerprint) group by fingerprint
"""
_HEADS = "select fingerprint, kind, redacted, first_ms, last_ms, owner, is_foreign from each order by place"
_REQUESTS = "select place, id from counted join each using (fingerprint) order by place, nth"


def rotation(rows: Iterable[pa.RecordBatch], *, spill: str | None = None) -> tuple[Credential, ...]:
    """What stood in exposed requests, and what stood in an answer to somebody else, in the order of the logs.

    `rows` have the schema `SECRETS`, in the order of the inputs. Beyond 512 MB they are put down in the folder `spill`:
    kinds, times, ids and fingerprints, no secret; where none is named, that is an error of memory.
    """
    settings: dict[str, Any] = {"memory_limit": MEMORY, "threads": 1, "preserve_insertion_order": False}
    if spill is not None:
        Path(spill).mkdir(mode=0o700, exist_ok=True)
    with duckdb.connect(config=settings | {"temp_directory": spill or ""}) as store:
        store.register("rows", pa.RecordBatchReader.from_batches(_NUMBERED, _numbered(rows)))
        for step in (_LOADED, _FOREIGN, _COUNTED, _EACH):
            store.execute(step)
        heads, requests = (_fetched(store.cursor().execute(query)) for query in (_HEADS, _REQUESTS))
        by_place = groupby(requests, key=itemgetter(0))
        return tuple(
            _credential(head, (one for _, one in of_one)) for head, (_, of_one) in zip(heads, by_place, strict=True)
        )


_NUMBERED = SECRETS.append(pa.field("nth", pa.int64()))


def _numbered(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    count = 0
    for batch in rows:
        numbers = pa.array(range(count, count + batch.num_rows), pa.int64())
        yield pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=_NUMBERED)
        count += batch.num_rows


def _fetched(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while some := result.fetchmany(_ROWS):
        yield from some


def _credential(head: tuple[Any, ...], requests: Iterator[str]) -> Credential:
    value, kind, redacted, first_ms, last_ms, owner, is_foreign = head
    return Credential(
        kind=kind,
        redacted=redacted,
        fingerprint=bytes(value).hex(),
        requests=tuple(dict.fromkeys(requests)),
        first_ms=first_ms,
        last_ms=last_ms,
        owner=owner,
        in_foreign_answer=is_foreign,
    )
