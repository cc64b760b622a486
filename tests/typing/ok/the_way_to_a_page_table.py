"""Admission, lease, manifest, seal, table: the one way, with every other answer dealt with."""

from typing import assert_never

from kvfence.core.actions import StartDecoding
from kvfence.core.admission import Admitted, Capacity, Condemned, Rejected, Wait, admit
from kvfence.core.ids import Digest, PageId, Role, RoomId, TenantId
from kvfence.core.invariants import Mismatch
from kvfence.core.lease import Leases, Move
from kvfence.core.manifest import Expectation, Manifest
from kvfence.core.page_table import PageTable, Seal, page_table, seal
from kvfence.core.pool import Pool, lease, move
from kvfence.core.rules import FENCED


def reserved(pool: Pool, capacity: Capacity, tokens: int) -> tuple[Pool, Leases] | int:
    """Pages, or a status code."""
    match admit(tokens, capacity, pool.free_pages, gate=Role.DECODE, rules=FENCED):
        case Admitted() as admitted:
            pool, held = lease(pool, admitted, RoomId(1), TenantId("A"), admitted.pages)
            return move(pool, held, Move.FILL), held
        case Wait():
            return 503
        case Rejected() | Condemned():
            return 400
        case other:
            assert_never(other)


def sealed_table(
    manifest: Manifest, expected: Expectation, digests: tuple[Digest, ...], own: Leases, pool: Pool
) -> PageTable | str:
    """A table, or why there is none."""
    match seal(manifest, expected, digests, FENCED):
        case Seal() as sealed:
            return page_table(sealed, own, pool)
        case Mismatch() as wrong:
            return str(wrong)
        case other:
            assert_never(other)


def decoding(table: PageTable) -> StartDecoding:
    """The only action that reads."""
    return StartDecoding(room=RoomId(1), table=table, max_new_tokens=1, cached_tokens=0)


def pages_of(held: Leases) -> tuple[PageId, ...]:
    """Names are integers below."""
    return held.pages
