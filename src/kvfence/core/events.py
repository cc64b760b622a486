"""What can happen to a room. Values only; each is one kind of message or report, named in the past.

Those that cross a wire are listed in `wire.py`; the others are reports of a worker's own driver.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.core.admission import Rejected
from kvfence.core.ids import Digest, Epoch, PrefixKey, Role, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import Leases
from kvfence.core.manifest import Manifest
from kvfence.core.tenant import may_be_a_client


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to `room`."""

    room: RoomId


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOffered(Event):
    """The router told a worker of a request, as the client sent it."""

    tenant: TenantId
    prompt_tokens: int
    max_new_tokens: int
    prefix_keys: tuple[PrefixKey, ...] = ()
    """One for each full page of the prompt but its last token; the worker that computes may reuse by them."""

    def __post_init__(self) -> None:
        _must_be_a_request(self.tenant, self.prompt_tokens, self.max_new_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationReceived(Event):
    """Decode is ready for the prompt's pages: where to put them, and under which epochs."""

    leases: Leases


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptComputed(Event):
    """The prefill driver has computed every slot that it was asked to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesDigested(Event):
    """The digests that were asked for, of what was in the pages at that moment."""

    digests: tuple[Digest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WritesLanded(Event):
    """Every write that was posted for the room has landed, or never will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestReceived(Event):
    """Prefill says that it is done, and attests to what."""

    manifest: Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesOffered(Event):
    """Two-sided wire: pages came in a message; they lie nowhere yet."""

    leases: Leases
    """Where the writer believes that it may write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesPulled(Event):
    """Pull wire: the read is over; these are the source pages' epochs after it."""

    epochs_after: tuple[Epoch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEnded(Event):
    """Pull wire: decode needs the source pages no longer, whatever came of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseExpired(Event):
    """Pull wire: the time for which prefill holds pages for a reader is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortReceived(Event):
    """Decode gave the room up and asks prefill to say when nothing more will be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerQuiet(Event):
    """Nothing more will be written for the room: prefill said so, or the connection to it is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRefused(Event):
    """A worker refused the request at its door."""

    refusal: Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFaulted(Event):
    """A check failed, or a worker is gone; there is no text."""

    check: Check
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientGone(Event):
    """The client hung up, or the router no longer wants the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffTimedOut(Event):
    """Nothing came from prefill for too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAsked(Event):
    """A client sent a request to the router."""

    tenant: TenantId
    prompt_tokens: int
    max_new_tokens: int
    prefix_keys: tuple[PrefixKey, ...] = ()

    def __post_init__(self) -> None:
        _must_be_a_request(self.tenant, self.prompt_tokens, self.max_new_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensDecoded(Event):
    """Decode has more of the answer; the tokens travel beside the event."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEnded(Event):
    """The answer is whole."""

    reason: str
    """`stop` or `length`; no refusal shares these words."""
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitMeasured(Event):
    """A failed check of this room took pages away from a worker; what it can hold now (I7)."""

    usable_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLost(Event):
    """The connection to a worker that this room needs is gone."""

    worker: Role


def _must_be_a_request(tenant: TenantId, prompt_tokens: int, max_new_tokens: int) -> None:
    """A request that no manifest can ever attest, or that would share with everybody, cannot be made (I1, I6)."""
    if prompt_tokens < 1 or max_new_tokens < 0:
        raise Violation(Check.ADMISSION, f"a prompt of {prompt_tokens} tokens, {max_new_tokens} new ones")
    if not may_be_a_client(tenant):
        raise Violation(Check.SHARING, "a client with a name that means somebody else")
