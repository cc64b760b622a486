"""The life of one page's right: states, and the one table of moves between them.

            LEASE            FILL             SEAL               RELEASE (last holder)
    Free ----------> Leased ------> Filling ------> Sealed(+holders) -----------------> Free
      ^                | RELEASE      |   | DRAIN        | QUARANTINE
      +----------------+              |   v              v
      +<------- RELEASE --------------+  Draining    Quarantined
      +<------- QUIET ----------------------+

A page is *filling* from the moment that somebody else may write into it. `RELEASE` of a filling page is right only
when its writer is known to be quiet (or can be refused); otherwise the page drains. A state says whose the page is;
the epoch, kept beside it in the pool, says for which time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from kvfence.core.ids import Epoch, PageId, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.tenant import SEVERAL, may_share


@dataclass(frozen=True, slots=True)
class Free:
    """Nobody's. What still lies in it was the last tenant's."""

    last_tenant: TenantId | None = None


@dataclass(frozen=True, slots=True)
class Leased:
    """Reserved for a room; nobody but this worker can write into it."""

    tenant: TenantId
    room: RoomId


@dataclass(frozen=True, slots=True)
class Filling:
    """A write may land in it: the peer's, or this worker's own."""

    tenant: TenantId
    room: RoomId


@dataclass(frozen=True, slots=True)
class Sealed:
    """Received or computed, complete; read by `holders` page tables of its tenant."""

    tenant: TenantId
    holders: int = 1


@dataclass(frozen=True, slots=True)
class Draining:
    """Given up by its room, but a remote write may still land in it: not free."""

    tenant: TenantId
    room: RoomId


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Held back after a failed check, for as long as the worker lives: no move leads out.

    What was written over it, and by whom, is not known; a new worker begins with a new pool.
    """

    tenant: TenantId
    check: Check


PageState = Free | Leased | Filling | Sealed | Draining | Quarantined


class Move(Enum):
    """What can be done to a page's right."""

    LEASE = auto()
    FILL = auto()
    SEAL = auto()
    SHARE = auto()
    RELEASE = auto()
    DRAIN = auto()
    QUIET = auto()
    QUARANTINE = auto()


PAGE_MOVES: dict[tuple[type[PageState], Move], tuple[type[PageState], ...]] = {
    (Free, Move.LEASE): (Leased,),
    (Leased, Move.FILL): (Filling,),
    (Leased, Move.RELEASE): (Free,),
    (Filling, Move.SEAL): (Sealed,),
    (Filling, Move.RELEASE): (Free,),
    (Filling, Move.DRAIN): (Draining,),
    (Filling, Move.QUARANTINE): (Quarantined,),
    (Sealed, Move.SHARE): (Sealed,),
    (Sealed, Move.RELEASE): (Sealed, Free),
    (Sealed, Move.QUARANTINE): (Quarantined,),
    (Draining, Move.QUIET): (Free,),
}
"""What is not here does not happen."""


@dataclass(frozen=True, slots=True)
class Leases:
    """One room's rights, in page-table order: `pages[i]` under `epochs[i]`."""

    room: RoomId
    tenant: TenantId
    pages: tuple[PageId, ...]
    epochs: tuple[Epoch, ...]

    def __post_init__(self) -> None:
        if len(self.pages) != len(self.epochs):
            raise Violation(Check.FORGED, f"{len(self.pages)} pages but {len(self.epochs)} epochs")

    def __len__(self) -> int:
        return len(self.pages)

    def exist_among(self, page_count: int) -> bool:
        """Whether a worker of so many pages has every one of these: a peer may name any number."""
        return not self.pages or (min(self.pages) >= 0 and max(self.pages) < page_count)

    def first(self, count: int) -> Leases:
        """The rights to the first `count` pages."""
        return Leases(self.room, self.tenant, self.pages[:count], self.epochs[:count])

    def followed_by(self, other: Leases) -> Leases:
        """The rights of the same room to these pages and then those."""
        return Leases(self.room, self.tenant, self.pages + other.pages, self.epochs + other.epochs)

    def after(self, count: int) -> Leases:
        """The rights to all but the first `count` pages."""
        return Leases(self.room, self.tenant, self.pages[count:], self.epochs[count:])


def moved(state: PageState, move: Move, *, by: Leases, check: Check | None = None) -> PageState:
    """The state after `move`, or a `Violation` when the table has no such move.

    `by` names the room and tenant that ask; `check` is the failed check of a quarantine.
    """
    after = PAGE_MOVES.get((type(state), move))
    if after is None:
        raise Violation(Check.ILLEGAL_PAGE_MOVE, f"{move.name} of a page that is {type(state).__name__}")
    _must_own(state, move, by)
    if isinstance(state, Sealed) and move in (Move.SHARE, Move.RELEASE):
        holders = state.holders + (1 if move is Move.SHARE else -1)
        return Sealed(state.tenant, holders) if holders else Free(state.tenant)
    return _NEW_STATE[move](by, check)


_NEW_STATE: dict[Move, Callable[[Leases, Check | None], PageState]] = {
    Move.LEASE: lambda by, _: Leased(by.tenant, by.room),
    Move.FILL: lambda by, _: Filling(by.tenant, by.room),
    Move.SEAL: lambda by, _: Sealed(by.tenant),
    Move.RELEASE: lambda _by, _: Free(SEVERAL),  # never sealed, so perhaps never overwritten
    Move.DRAIN: lambda by, _: Draining(by.tenant, by.room),
    Move.QUIET: lambda _by, _: Free(SEVERAL),
    Move.QUARANTINE: lambda by, check: Quarantined(by.tenant, check or Check.CONSERVATION),
}


def _must_own(state: PageState, move: Move, by: Leases) -> None:
    """A right is used by the room that holds it; a sealed page by its tenant alone (I6)."""
    match state:
        case Leased() | Filling() | Draining():
            if state.room != by.room:
                raise Violation(Check.ILLEGAL_PAGE_MOVE, f"{move.name} by room {by.room} of room {state.room}'s page")
        case Sealed():
            if not may_share(owner=state.tenant, reader=by.tenant):
                raise Violation(Check.SHARING, f"{move.name} of another tenant's page")
        case Free() | Quarantined():
            pass
