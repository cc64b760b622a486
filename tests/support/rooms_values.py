"""Values for tests of core: capacities, leases, manifests, and one event of each kind. No world here."""

from __future__ import annotations

import hashlib

from kvfence.core import events as on
from kvfence.core.admission import Capacity, Rejected
from kvfence.core.handoff import TurnCame, Worker, new_worker
from kvfence.core.ids import Digest, Epoch, PageId, PrefixKey, Role, RoomId, TenantId
from kvfence.core.invariants import Check
from kvfence.core.lease import Leases
from kvfence.core.manifest import Manifest
from kvfence.core.pool import Reuse
from kvfence.core.rules import FENCED, Rules, Wire

PAGE = 4
LAYOUT = "test"


def capacity(pages: int, context: int = 100 * PAGE, reserve: int = 0) -> Capacity:
    return Capacity(pool_tokens=pages * PAGE, context_tokens=context, page_size=PAGE, reserve_tokens=reserve)


def worker(
    role: Role, pages: int = 16, rules: Rules = FENCED, kind: Wire = Wire.PUSH, reuse: Reuse = Reuse.LIFO
) -> Worker:
    return new_worker(role, capacity(pages), rules, kind, layout=LAYOUT, reuse=reuse)


def digest(content: object) -> Digest:
    return Digest(hashlib.blake2b(repr(content).encode(), digest_size=16).digest())


def prefix_keys(story: str, count: int) -> tuple[PrefixKey, ...]:
    """One key a page: equal for equal stories, whoever tells them."""
    return tuple(PrefixKey(digest((story, page))) for page in range(count))


def leases(room: int = 1, tenant: str = "A", pages: int = 2, epoch: int = 1, first: int = 0) -> Leases:
    held = tuple(PageId(first + page) for page in range(pages))
    return Leases(RoomId(room), TenantId(tenant), held, (Epoch(epoch),) * pages)


def manifest(held: Leases, tokens: int | None = None, digests: tuple[Digest, ...] | None = None) -> Manifest:
    count = len(held) * PAGE if tokens is None else tokens
    return Manifest(leases=held, tokens=count, page_size=PAGE, layout=LAYOUT, digests=digests)


def offered(room: int = 1, tenant: str = "A", tokens: int = 8, new: int = PAGE, story: str = "") -> on.RequestOffered:
    return on.RequestOffered(
        room=RoomId(room),
        tenant=TenantId(tenant),
        prompt_tokens=tokens,
        max_new_tokens=new,
        prefix_keys=prefix_keys(story, (tokens - 1) // PAGE) if story else (),
    )


def every_event(room: int, held: Leases) -> list[on.Event]:
    """One event of each kind for a room, as a peer or a driver could report it."""
    here = RoomId(room)
    attested = manifest(held, digests=tuple(digest(page) for page in held.pages))
    refusal = Rejected(asked_tokens=999, usable_tokens=64, gate=Role.PREFILL)
    ask = {"room": here, "tenant": held.tenant, "prompt_tokens": len(held) * PAGE, "max_new_tokens": PAGE}
    return [
        on.RequestOffered(**ask),
        on.ClientAsked(**ask),
        on.ReservationReceived(room=here, leases=held),
        on.PromptComputed(room=here),
        on.PagesDigested(room=here, digests=attested.digests),
        on.WritesLanded(room=here),
        on.ManifestReceived(room=here, manifest=attested),
        on.PagesOffered(room=here, leases=held),
        on.PagesPulled(room=here, epochs_after=held.epochs),
        on.ReadEnded(room=here),
        on.LeaseExpired(room=here),
        on.AbortReceived(room=here),
        on.PeerQuiet(room=here),
        on.RequestRefused(room=here, refusal=refusal),
        on.RequestFaulted(room=here, check=Check.COUNT, message="a check"),
        on.ClientGone(room=here),
        on.HandoffTimedOut(room=here),
        on.TokensDecoded(room=here, count=1),
        on.AnswerEnded(room=here, reason="stop", prompt_tokens=8, completion_tokens=1, cached_tokens=0),
        on.LimitMeasured(room=here, usable_tokens=64),
        on.WorkerLost(room=here, worker=Role.PREFILL),
        TurnCame(room=here),
    ]
