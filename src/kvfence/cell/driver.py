"""What prefill's and decode's drivers have in common: events in, one step of core, actions out.

A driver decides nothing about pages. It owns a store, a mailbox and timers; it turns parcels and its own reports into
events, and carries out the actions that core returns, in order. It runs in one thread, or is stepped by hand.
"""

from __future__ import annotations

import heapq
import itertools
import queue
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kvfence.cell.config import CellConfig
from kvfence.cell.digests import seed_of
from kvfence.cell.frames import Control, Frame, Inbox, Outbox, Report
from kvfence.cell.paged_kv import PagedKV
from kvfence.cell.transports.base import PageWire
from kvfence.core import events as on
from kvfence.core.actions import (
    Action,
    CountCheck,
    CountVerified,
    DigestPages,
    NoteRefusal,
    PublishEpochs,
    ScrubPages,
    Send,
)
from kvfence.core.handoff import Worker, new_worker, rooms_needing
from kvfence.core.ids import Digest, Role, RoomId
from kvfence.core.invariants import Violation
from kvfence.core.leasing import clear_ahead
from kvfence.core.wire import WireError

Step = Callable[[Worker, on.Event], tuple[Worker, tuple[Action, ...]]]

REPORT_EVERY_S = 0.25
"""How often figures go to the router while there is work; an idle worker reports once more and then is silent."""

PAGES_CLEARED_AT_ONCE = 256
"""Pages that an idle worker clears before it looks at its mailbox again: about 1 ms of work."""

_LOST = {Control.PREFILL_LOST: Role.PREFILL, Control.DECODE_LOST: Role.DECODE, Control.ROUTER_LOST: Role.ROUTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plumbing:
    """What a driver is connected to."""

    store: PagedKV
    wire: PageWire
    inbox: Inbox
    outboxes: Mapping[Role, Outbox]
    clock: Callable[[], float]


class Driver(ABC):
    """One worker. `run` loops until it is told to stop; `turn` does one round of it."""

    def __init__(self, role: Role, step: Step, config: CellConfig, plumbing: Plumbing) -> None:
        self.config = config
        self.store = plumbing.store
        self.wire = plumbing.wire
        self._step = step
        self._inbox = plumbing.inbox
        self._outboxes = plumbing.outboxes
        self._clock = plumbing.clock
        self.worker = new_worker(
            role, config.capacity(role), config.rules, config.wire, layout=config.layout, reuse=config.reuse
        )
        self.stopped = False
        self.counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
        self._pending: deque[tuple[on.Event, bytes]] = deque()
        self._timers: list[tuple[float, int, on.Event]] = []
        self._timer_numbers = itertools.count()
        self._log: list[str] = []
        self._reported_at = float("-inf")
        self._dirty = True
        self._cleared_pool: object = None

    # --- the loop ---

    def run(self) -> None:
        """Work until told to stop."""
        while not self.stopped:
            self.turn(wait_s=REPORT_EVERY_S)

    def turn(self, *, wait_s: float = 0.0) -> bool:
        """Take what is in the mailbox, fire timers, do one slice of work. Waits only where there is nothing to do.

        Returns whether anything was done.
        """
        busy = self._take_parcels(wait_s=0.0)
        busy = self._fire_timers() or busy
        busy = self._look_at_wire() or busy
        busy = self.work() or busy
        busy = busy or self._clear_ahead()
        self._report(idle=not busy)
        if not busy and wait_s:
            busy = self._take_parcels(wait_s=min(wait_s, self._until_something_is_due()))
        return busy

    @abstractmethod
    def work(self) -> bool:
        """One slice of computing, sending or generating; whether there was any."""

    @abstractmethod
    def perform(self, action: Action) -> None:
        """Carry out an action that only this role knows."""

    @abstractmethod
    def keep(self, event: on.Event, payload: bytes) -> None:
        """Look at the payload that came with `event`, before core sees the event."""

    @abstractmethod
    def forget(self, room: RoomId) -> None:
        """The room has ended: drop what was kept for it."""

    def digest(self, action: DigestPages) -> tuple[Digest, ...]:
        """Digests of what is in the pages now."""
        return self.store.digest(action.pages, seed_of(action.room))

    # --- events ---

    def happen(self, event: on.Event, payload: bytes = b"") -> None:
        """Give `event` to core and do what it says; events that this causes follow in their order."""
        self._pending.append((event, payload))
        if len(self._pending) > 1:
            return
        while self._pending:
            self._dirty = True
            next_event, its_payload = self._pending[0]
            self.keep(next_event, its_payload)
            self.worker, actions = self._step(self.worker, next_event)
            for action in actions:
                self._perform(action)
            if next_event.room not in self.worker.rooms:
                self.forget(next_event.room)
            self._pending.popleft()

    def send(self, to: Role, event: on.Event, payload: bytes = b"") -> None:
        """Post a message to another role."""
        self._outboxes[to].put(Frame.of(event, payload))

    def later(self, delay_s: float, event: on.Event) -> None:
        """Let `event` happen when `delay_s` seconds have passed; of those due at one moment, the first set first."""
        heapq.heappush(self._timers, (self._clock() + delay_s, next(self._timer_numbers), event))

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        """Add to a counter that `/metrics` shows."""
        self.counts[name, tuple(sorted(labels.items()))] += amount

    def log(self, line: str) -> None:
        """Put a line into the cell's log; never text of a customer."""
        self._log.append(line)

    # --- inside ---

    def _perform(self, action: Action) -> None:
        match action:
            case Send():
                self.send(action.to, action.event)
            case PublishEpochs():
                self.store.set_epochs(action.leases.pages, action.leases.epochs)
            case ScrubPages():
                self.store.scrub(action.pages)
                self.count("pages_scrubbed_total", len(action.pages))
            case DigestPages():
                self.happen(on.PagesDigested(room=action.room, digests=self.digest(action)))
            case CountCheck():
                self.count("checks_failed_total", check=action.check)
                self.log(f"kvfence cell check: worker={self.worker.role}-0 room={action.room} {action.message}")
            case NoteRefusal():
                self.count("refused_total")
                self.log(
                    f"kvfence cell refused: worker={self.worker.role}-0 room={action.room} "
                    f"prompt_tokens={action.prompt_tokens} usable_tokens={action.refusal.usable_tokens}"
                )
            case CountVerified():
                self.count("handoffs_verified_total", checks=action.checks)
            case _:
                self.perform(action)

    def _take_parcels(self, *, wait_s: float) -> bool:
        took = False
        try:
            while not self.stopped:
                parcel = self._inbox.get(block=wait_s > 0 and not took, timeout=wait_s or None)
                took = True
                if isinstance(parcel, Control):
                    self._obey(parcel)
                elif isinstance(parcel, Frame):
                    self._open(parcel)
        except queue.Empty:
            pass
        return took

    def _open(self, frame: Frame) -> None:
        """The one door where a peer's bytes become events. What does not fit is counted, never guessed at."""
        try:
            self.happen(frame.event(), frame.payload)
        except (WireError, Violation) as error:
            self._pending.clear()
            self.count("messages_refused_total", error=type(error).__name__)
            self.log(f"kvfence cell message refused: worker={self.worker.role}-0 {error}")

    def _obey(self, order: Control) -> None:
        if order is Control.STOP:
            self.stopped = True
            return
        for room in rooms_needing(self.worker):
            self.happen(on.WorkerLost(room=room, worker=_LOST[order]))

    def _fire_timers(self) -> bool:
        fired = False
        while self._timers and self._timers[0][0] <= self._clock():
            self.happen(heapq.heappop(self._timers)[2])
            fired = True
        return fired

    def _until_something_is_due(self) -> float:
        timer_s = self._timers[0][0] - self._clock() if self._timers else None
        due_s = [seconds for seconds in (timer_s, self.wire.due_in_s()) if seconds is not None]
        return max(min(due_s, default=REPORT_EVERY_S), 0.001)

    def _look_at_wire(self) -> bool:
        landed, pulled = self.wire.landed(), self.wire.pulled()
        for room in landed:
            self.happen(on.WritesLanded(room=room))
        for room, epochs in pulled:
            self.happen(on.PagesPulled(room=room, epochs_after=epochs))
        return bool(landed or pulled)

    def _clear_ahead(self) -> bool:
        if self.worker.pool is self._cleared_pool:
            return False
        self.worker, actions = clear_ahead(self.worker, PAGES_CLEARED_AT_ONCE)
        if not actions:
            self._cleared_pool = self.worker.pool
        for action in actions:
            self._perform(action)
        return bool(actions)

    def _report(self, *, idle: bool) -> None:
        now = self._clock()
        if self._dirty and (idle or now - self._reported_at > REPORT_EVERY_S):
            self._outboxes[Role.ROUTER].put(Report(self.worker.role, self.figures(), tuple(self._log)))
            self._log.clear()
            self._reported_at, self._dirty = now, False

    def figures(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        """Pages by state, rooms that live, and all counters."""
        states = Counter({"free": 0}) + self.worker.pool.counts()
        figures: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {
            ("pages", (("state", state),)): float(count) for state, count in states.items()
        }
        figures["pages_kept_for_reuse", ()] = float(len(self.worker.prefixes))
        figures["rooms", ()] = float(len(self.worker.rooms))
        return figures | {key: float(value) for key, value in self.counts.items()}
