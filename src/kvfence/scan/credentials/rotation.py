"""From rows of secrets to what has to be rotated: each value once, whoever said it and wherever it stood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import duckdb
import pyarrow as pa

from kvfence.findings.exposure import Credential
from kvfence.scan.credentials.secret_pass import SECRETS

MEMORY = "512MB"
_ROWS = 8192

_FOREIGN = """
create table told as
with first_of_tenant as (
    select fingerprint, tenant, min(coalesce(began_ms, -9e18::bigint)) as first_ms
    from found where tenant is not null group by all
), own_prompts as (
    select fingerprint, tenant, min(began_ms) as first_ms from found where in_prompt group by all
), earliest as (
    -- the two tenants who had it first: one of them is another than any that is asked about
    select fingerprint, tenant, first_ms from first_of_tenant
    qualify row_number() over (partition by fingerprint order by first_ms, tenant) <= 2
)
select found.*, not in_prompt and not in_own_prompt and exists (
    select 1 from earliest where earliest.fingerprint = found.fingerprint and earliest.tenant <> found.tenant
    and earliest.first_ms <= coalesce(found.began_ms, 9e18::bigint)
) and not exists (
    select 1 from own_prompts where own_prompts.fingerprint = found.fingerprint and own_prompts.tenant = found.tenant
    and own_prompts.first_ms <= found.began_ms
) as foreign_answer
from found
"""
"""An answer has another's secret: it is not in its own prompt, and another tenant's text had it before,
and its own tenant had not sent it by then. A time that a
log does not say excludes nothing; a tenant that it does not say claims nothing."""

_CREDENTIALS = """
with counted as (select * from told where exposed or foreign_answer),
     of_each as (
    select fingerprint,
        arg_min(kind, (source, "offset", not in_prompt, "at")) as kind,
        arg_min(redacted, (source, "offset", not in_prompt, "at")) as redacted,
        min(began_ms) as first_ms, max(began_ms) as last_ms,
        bool_or(foreign_answer) as foreign_answer,
        min((source, "offset", not in_prompt, "at")) as place
    from counted group by fingerprint
), owners as (
    select fingerprint, arg_min(tenant, (coalesce(began_ms, 9e18::bigint), source, "offset")) as owner
    from told where in_prompt and tenant is not null group by fingerprint
)
select of_each.fingerprint, of_each.kind, of_each.redacted, first_ms, last_ms, of_each.foreign_answer, owner, counted.id
from of_each join counted using (fingerprint) left join owners using (fingerprint)
order by of_each.place, of_each.fingerprint, counted.source, counted."offset"
"""


def rotation(rows: Iterable[pa.RecordBatch], *, spill: str | None = None) -> tuple[Credential, ...]:
    """What stood in exposed requests, and what stood in an answer to somebody else, in the order of the logs.

    `rows` have the schema `SECRETS`. Beyond 512 MB they are put down in the folder `spill`: places, kinds and
    fingerprints, no secret; where none is named, that is an error of memory.
    """
    settings: dict[str, Any] = {"memory_limit": MEMORY, "threads": 1, "preserve_insertion_order": False}
    settings["temp_directory"] = spill or ""
    with duckdb.connect(config=settings) as store:
        batches = pa.RecordBatchReader.from_batches(SECRETS, rows)  # noqa: F841 — DuckDB finds it by its name
        store.execute("create table found as select * from batches")
        store.execute(_FOREIGN)
        store.execute(_CREDENTIALS)
        return tuple(_credential(of_one) for _, of_one in groupby(_rows(store), key=itemgetter(0)))


def _rows(store: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while some := store.fetchmany(_ROWS):
        yield from some


def _credential(rows: Iterator[tuple[Any, ...]]) -> Credential:
    value, kind, redacted, first_ms, last_ms, is_foreign, owner, request = next(rows)
    return Credential(
        kind=kind,
        redacted=redacted,
        fingerprint=bytes(value).hex(),
        requests=tuple(dict.fromkeys([request, *(row[-1] for row in rows)])),
        first_ms=first_ms,
        last_ms=last_ms,
        owner=owner,
        in_foreign_answer=is_foreign,
    )
