"""What the handoff asks of the outside. Data, never callables; a driver carries them out in the order given."""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.core.admission import Rejected
from kvfence.core.events import Event
from kvfence.core.ids import PageId, Role, RoomId
from kvfence.core.invariants import Check
from kvfence.core.lease import Leases
from kvfence.core.page_table import PageTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """Give `event` to another role."""

    to: Role
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrubPages:
    """Clear these pages before anything else is done with them (I5)."""

    pages: tuple[PageId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishEpochs:
    """Let remote readers see that these pages have changed hands, before anything is written into them (I4)."""

    leases: Leases


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputePrompt:
    """Compute keys and values of slots `first_slot` up to `tokens` into the pages; then report `PromptComputed`."""

    room: RoomId
    pages: tuple[PageId, ...]
    first_slot: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestPages:
    """Digest what is in these pages now; report `PagesDigested`."""

    room: RoomId
    pages: tuple[PageId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePages:
    """Post writes of `source` pages into decode's `target` pages, in order; report `WritesLanded`."""

    room: RoomId
    source: tuple[PageId, ...]
    target: Leases


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyWrite:
    """Two-sided wire: copy the pages that came into their places."""

    pages: tuple[PageId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DropWrite:
    """Two-sided wire: the pages that came have no place here; forget them."""

    room: RoomId
    check: Check


@dataclass(frozen=True, slots=True, kw_only=True)
class PullPages:
    """Read prefill's `source` pages into own `target` pages, then read their epochs; report `PagesPulled`."""

    room: RoomId
    source: Leases
    target: tuple[PageId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartDecoding:
    """Generate over this page table; report the end with `ClientGone` or `AnswerEnded`."""

    room: RoomId
    table: PageTable
    max_new_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StopWork:
    """Whatever this worker computes or generates for the room, no further step of it may run."""

    room: RoomId


@dataclass(frozen=True, slots=True, kw_only=True)
class StartLeaseTimer:
    """Pull wire: report `LeaseExpired` when the lease time is over."""

    room: RoomId


@dataclass(frozen=True, slots=True, kw_only=True)
class StartHandoffTimer:
    """Report `HandoffTimedOut` if the room has no manifest by then."""

    room: RoomId


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRefusal:
    """This worker found that the prompt does not fit: log both figures, count it."""

    room: RoomId
    prompt_tokens: int
    refusal: Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class CountCheck:
    """A check failed and did its work: count it, log it (I8)."""

    room: RoomId
    check: Check
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountVerified:
    """A room was sealed after these checks: the positive record."""

    room: RoomId
    checks: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerClient:
    """Pass the event on to the client: tokens, an end, a refusal or a fault."""

    event: Event


Action = (
    Send
    | ScrubPages
    | PublishEpochs
    | ComputePrompt
    | DigestPages
    | WritePages
    | ApplyWrite
    | DropWrite
    | PullPages
    | StartDecoding
    | StopWork
    | StartLeaseTimer
    | StartHandoffTimer
    | NoteRefusal
    | CountCheck
    | CountVerified
    | AnswerClient
)
