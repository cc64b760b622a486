"""The handoff: what it is, and how its tables are run.

Two rules for this file and the three beside it: everything that changes a room's state is reached from a table row,
and none of it knows whether it runs in a thread, a process, a simulation or a checker.

**The theory.** A room is three coupled machines, one a role, and a wire. Each machine is a frozen value; `step` takes
it and one event to the next value and a list of actions. Events are reports of the machine's own driver or messages
of the other roles; messages may come late, twice, in another order, or never.

    client        router              prefill                      decode
      | ClientAsked |                    |                            |
      |------------>| RequestOffered     |                            |
      |             |------------------->|   (admit, or refuse)       |
      |             |------------------------------------------------>| (admit; reserve pages, clear them)
      |             |                    |<---- ReservationReceived --|
      |             |                    | (lease, compute, digest)   |
      |             |                    |===== pages ===============>| (one-sided, two-sided, or pulled)
      |             |                    |----- ManifestReceived ---->| (compare, digest, seal)
      |             |<------------------------------ TokensDecoded ---|
      |<------------|<------------------------------ AnswerEnded -----|

Whoever refuses tells both others; whoever gives up waits for the writer to be quiet before it hands a page on.
Decode reserves before prefill computes, so a prefill page is only ever held by a room that can make progress.

**Tables.** `(state, event)` leads to a `Row`: a function, and the states it may lead to. What is not in the table does
not happen: `step` raises, and the old value is still whole. Rows named `ignored` are messages that a network may bring
too late; they are listed, not swallowed. Which checks a row makes depends on the layers that the rules have on;
the historical rules run these same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kvfence.core.actions import Action
from kvfence.core.admission import Capacity
from kvfence.core.events import Event
from kvfence.core.frozen_map import FrozenMap
from kvfence.core.ids import PageId, PrefixKey, Role, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.pool import Pool, Reuse, empty_pool
from kvfence.core.rules import Rules, Wire

ROOMS_REMEMBERED = 4096
"""How many ended rooms a side remembers, so that a late message cannot open one again. A message that is older than
so many rooms meets an unknown room, where nothing but an offer has an effect."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The room was never heard of, or so long ago that it is forgotten."""


@dataclass(frozen=True, slots=True)
class Over:
    """The room has ended here; it is remembered only to know that."""


@dataclass(frozen=True, slots=True)
class Queued:
    """It fits, not now; rooms get their turn in the order in which they came, so a large one is never overtaken."""

    ask: Any
    """The state from which the room goes on when its turn has come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCame(Event):
    """The room is the first of those that wait, and pages may have become free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One side of all its rooms: prefill or decode."""

    role: Role
    capacity: Capacity
    rules: Rules
    wire: Wire
    layout: str
    pool: Pool
    rooms: FrozenMap[RoomId, object] = field(default_factory=FrozenMap)
    over: FrozenMap[RoomId, None] = field(default_factory=FrozenMap)
    prefixes: FrozenMap[tuple[TenantId, PrefixKey], PageId] = field(default_factory=FrozenMap)
    """Full pages that prefill keeps for reuse, oldest first; the index is one holder of each."""


def new_worker(
    role: Role, capacity: Capacity, rules: Rules, wire: Wire, *, layout: str, reuse: Reuse = Reuse.LIFO
) -> Worker:
    """A worker whose pool was never written."""
    pool = empty_pool(capacity.pool_pages, reuse)
    return Worker(role=role, capacity=capacity, rules=rules, wire=wire, layout=layout, pool=pool)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a row's function returns: the worker (its rooms untouched), the room's next state, what to do."""

    worker: Worker
    state: object
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    run: Callable[[Worker, Any, Any], Outcome]
    to: tuple[type, ...]


Table = Mapping[tuple[type, type[Event]], Row]


def ignored(worker: Worker, state: object, _event: Event) -> Outcome:
    """The message came too late, or twice; it changes nothing."""
    return Outcome(worker, state)


def ignoring(state: type, *events: type[Event]) -> dict[tuple[type, type[Event]], Row]:
    """Rows for messages that mean nothing to a room in `state`."""
    return {(state, event): Row(ignored, (state,)) for event in events}


def state_of(worker: Worker, room: RoomId) -> object:
    """The room's state here: live, over or unknown."""
    if room in worker.over:
        return Over()
    return worker.rooms.get(room, Unknown())


def step_worker(table: Table, worker: Worker, event: Event) -> tuple[Worker, tuple[Action, ...]]:
    """One event, then every waiting room whose turn has come because of it."""
    worker, actions = _one_row(table, worker, event)
    while (first := first_queued(worker)) is not None:
        worker, more = _one_row(table, worker, TurnCame(room=first))
        actions += more
        if isinstance(worker.rooms.get(first), Queued):
            break
    return worker, actions


def _one_row(table: Table, worker: Worker, event: Event) -> tuple[Worker, tuple[Action, ...]]:
    state = state_of(worker, event.room)
    row = table.get((type(state), type(event)))
    if row is None:
        raise Violation(Check.ILLEGAL_EVENT, f"{type(event).__name__} in {type(state).__name__} at {worker.role}")
    outcome = row.run(worker, state, event)
    if not isinstance(outcome.state, row.to):
        raise Violation(Check.ILLEGAL_EVENT, f"{type(event).__name__} led to {type(outcome.state).__name__}")
    return _with_room(outcome.worker, event.room, outcome.state, was=state), outcome.actions


def _with_room(worker: Worker, room: RoomId, state: object, *, was: object) -> Worker:
    if state is was:
        return worker
    match state:
        case Over():
            over = worker.over.with_(room, None)
            if len(over) > ROOMS_REMEMBERED:
                over = over.without(next(iter(over)))
            return replace(worker, rooms=worker.rooms.without(room), over=over)
        case Unknown():
            return worker
        case _:
            return replace(worker, rooms=worker.rooms.with_(room, state))


def first_queued(worker: Worker) -> RoomId | None:
    """The room whose turn comes next, if any waits. While one does, a newcomer queues behind it."""
    return next((room for room, state in worker.rooms.items() if isinstance(state, Queued)), None)


def rooms_needing(worker: Worker) -> Iterable[RoomId]:
    """Rooms that a lost connection concerns: all that are live."""
    return tuple(worker.rooms)
