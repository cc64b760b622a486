"""Rooms for tests of core: values to build events from, machines in every state, and a whole small world."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from kvfence.core import decode_side, prefill_side, router_side, wire
from kvfence.core import events as on
from kvfence.core.actions import (
    AnswerClient,
    ApplyWrite,
    ComputePrompt,
    CountCheck,
    DigestPages,
    DropWrite,
    PullPages,
    ScrubPages,
    Send,
    StartDecoding,
    StartHandoffTimer,
    StartLeaseTimer,
    WritePages,
)
from kvfence.core.admission import Capacity, Rejected, advertised_tokens
from kvfence.core.handoff import TurnCame, Worker, new_worker
from kvfence.core.ids import Digest, Epoch, PageId, Role, RoomId, TenantId
from kvfence.core.invariants import Check
from kvfence.core.lease import Leases
from kvfence.core.manifest import Manifest
from kvfence.core.pool import Reuse
from kvfence.core.rules import FENCED, Rules, Wire

PAGE = 4
LAYOUT = "test"
_ANY = (Role.ROUTER, Role.DECODE)
STEPS = {Role.PREFILL: prefill_side.step, Role.DECODE: decode_side.step}


def capacity(pages: int, context: int = 100 * PAGE) -> Capacity:
    return Capacity(pool_tokens=pages * PAGE, context_tokens=context, page_size=PAGE)


def worker(
    role: Role, pages: int = 16, rules: Rules = FENCED, kind: Wire = Wire.PUSH, reuse: Reuse = Reuse.LIFO
) -> Worker:
    return new_worker(role, capacity(pages), rules, kind, layout=LAYOUT, reuse=reuse)


def digest(content: object) -> Digest:
    return Digest(f"{hash(content) & 0xFFFFFFFFFFFFFFFF:016x}".encode())


def leases(room: int = 1, tenant: str = "A", pages: int = 2, epoch: int = 1) -> Leases:
    return Leases(RoomId(room), TenantId(tenant), tuple(PageId(page) for page in range(pages)), (Epoch(epoch),) * pages)


def manifest(held: Leases, tokens: int | None = None, digests: tuple[Digest, ...] | None = None) -> Manifest:
    count = len(held) * PAGE if tokens is None else tokens
    return Manifest(leases=held, tokens=count, page_size=PAGE, layout=LAYOUT, digests=digests)


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
        on.WorkerLost(room=here, worker=Role.PREFILL),
        TurnCame(room=here),
    ]


@dataclass
class RoomWorld:
    """Router, prefill and decode, wired by hand: channels are FIFO, reports come when a test lets them.

    `content` has for each page of each worker whose room's bytes lie in it, and which page of its prompt they are: an
    oracle that shares no code with core.
    """

    rules: Rules = FENCED
    kind: Wire = Wire.PUSH
    prefill_pages: int = 8
    decode_pages: int = 24
    reuse: Reuse = Reuse.LIFO
    workers: dict[Role, Worker] = field(init=False)
    router: router_side.Router = field(init=False)
    channels: dict[tuple[Role, Role], deque[on.Event]] = field(init=False)
    reports: dict[Role, list[on.Event]] = field(init=False)
    timers: dict[Role, list[on.Event]] = field(init=False)
    in_flight: list[WritePages] = field(default_factory=list)
    content: dict[Role, dict[int, tuple[str, int, int] | None]] = field(init=False)
    tenants: dict[int, str] = field(default_factory=dict)
    pages_of: dict[int, int] = field(default_factory=dict)
    ends: dict[int, list[on.Event]] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    hold_writes: bool = False
    seen: list[tuple[Role, Worker, on.Event, Worker]] = field(default_factory=list)
    """Every step of a worker: before, event, after."""

    def __post_init__(self) -> None:
        sizes = {Role.PREFILL: self.prefill_pages, Role.DECODE: self.decode_pages}
        self.workers = {role: worker(role, pages, self.rules, self.kind, self.reuse) for role, pages in sizes.items()}
        path = [capacity(pages) for pages in sizes.values()]
        self.router = router_side.Router(advertised_tokens=advertised_tokens(path, self.rules), rules=self.rules)
        self.channels = {(a, b): deque() for a in Role for b in Role if a is not b}
        self.reports = {role: [] for role in Role}
        self.timers = {role: [] for role in Role}
        self.content = {role: dict.fromkeys(range(pages)) for role, pages in sizes.items()}

    # --- what a test does ---

    def ask(self, room: int, tenant: str, prompt_pages: int, new_tokens: int = PAGE) -> None:
        self.tenants[room], self.pages_of[room] = tenant, prompt_pages
        asked = on.ClientAsked(
            room=RoomId(room),
            tenant=TenantId(tenant),
            prompt_tokens=prompt_pages * PAGE,
            max_new_tokens=new_tokens,
        )
        self.happen(Role.ROUTER, asked)

    def hang_up(self, room: int) -> None:
        self.happen(Role.ROUTER, on.ClientGone(room=RoomId(room)))

    def deliver(self, sender: Role, receiver: Role) -> bool:
        """The oldest message of one channel."""
        channel = self.channels[sender, receiver]
        if not channel:
            return False
        self.happen(receiver, channel.popleft())
        return True

    def report(self, role: Role, at: int = 0) -> bool:
        """One pending report of a worker's own driver."""
        if not self.reports[role]:
            return False
        self.happen(role, self.reports[role].pop(at % len(self.reports[role])))
        return True

    def land(self, at: int = 0) -> bool:
        """One write that was held back lands now, whoever has the pages by now."""
        if not self.in_flight:
            return False
        write = self.in_flight.pop(at % len(self.in_flight))
        self._copy(write)
        self.reports[Role.PREFILL].append(on.WritesLanded(room=write.room))
        return True

    def expire(self, role: Role, at: int = 0) -> bool:
        """One timer of a worker fires, early or late."""
        if not self.timers[role]:
            return False
        self.happen(role, self.timers[role].pop(at % len(self.timers[role])))
        return True

    def at_random(self, rng: random.Random) -> None:
        """One thing that can happen, whichever."""
        kind = rng.random()
        if kind < 0.5:
            self.deliver(*rng.choice([pair for pair, channel in self.channels.items() if channel] or [_ANY]))
        elif kind < 0.8:
            self.report(rng.choice(list(STEPS)), rng.randrange(8))
        elif kind < 0.9:
            self.land(rng.randrange(8))
        elif kind < 0.96 and self.tenants:
            self.hang_up(rng.choice(list(self.tenants)))
        else:
            self.expire(rng.choice(list(STEPS)), rng.randrange(8))

    def run(self) -> None:
        """Everything that can move without a timer, until nothing does."""
        moved = True
        while moved:
            delivered = [self.deliver(*pair) for pair in self.channels]
            reported = [self.report(role) for role in Role]
            moved = any(delivered) or any(reported)
            moved = (not self.hold_writes and self.land()) or moved

    # --- inside ---

    def happen(self, role: Role, event: on.Event) -> None:
        if role is Role.ROUTER:
            self.router, actions = router_side.step(self.router, event)
        else:
            before = self.workers[role]
            self.workers[role], actions = STEPS[role](before, event)
            self.seen.append((role, before, event, self.workers[role]))
        for action in actions:
            self._perform(role, action, event)

    def _perform(self, role: Role, action: object, event: on.Event) -> None:  # noqa: C901, PLR0912 — one arm an action
        match action:
            case Send():
                passed = wire.decode(wire.encode(action.event))
                if passed != action.event:
                    raise AssertionError(f"{action.event} came out as {passed}")
                self.channels[role, action.to].append(passed)
            case ScrubPages():
                self.content[role] |= dict.fromkeys(action.pages)
            case ComputePrompt():
                self._compute(action)
            case DigestPages():
                digests = tuple(digest((action.room, self.content[role][page])) for page in action.pages)
                self.reports[role].append(on.PagesDigested(room=action.room, digests=digests))
            case WritePages() if self.kind is Wire.TWO_SIDED:
                self.channels[Role.PREFILL, Role.DECODE].append(on.PagesOffered(room=action.room, leases=action.target))
                self._letters().append((action, tuple(self.content[Role.PREFILL][page] for page in action.source)))
                self.reports[role].append(on.WritesLanded(room=action.room))
            case WritePages():
                self.in_flight.append(action)
            case ApplyWrite():
                self._apply(event, action)
            case PullPages():
                for source, target in zip(action.source.pages, action.target, strict=True):
                    self.content[Role.DECODE][target] = self.content[Role.PREFILL][source]
                epochs = tuple(self.workers[Role.PREFILL].pool.epochs[page] for page in action.source.pages)
                self.reports[role].append(on.PagesPulled(room=action.room, epochs_after=epochs))
            case StartDecoding():
                self._read(action)
            case StartLeaseTimer():
                self.timers[role].append(on.LeaseExpired(room=action.room))
            case StartHandoffTimer():
                self.timers[role].append(on.HandoffTimedOut(room=action.room))
            case CountCheck():
                self.checks.append(action.check)
            case DropWrite():
                self.checks.append(action.check)
            case AnswerClient() if not isinstance(action.event, on.TokensDecoded):
                self.ends.setdefault(action.event.room, []).append(action.event)
            case _:
                pass

    def _compute(self, action: ComputePrompt) -> None:
        first = action.first_slot // PAGE
        for index, page in enumerate(action.pages):
            if index >= first:
                self.content[Role.PREFILL][page] = (self.tenants[action.room], action.room, index)
        self.reports[Role.PREFILL].append(on.PromptComputed(room=action.room))

    def _copy(self, write: WritePages) -> None:
        for source, target in zip(write.source, write.target.pages, strict=True):
            self.content[Role.DECODE][target] = self.content[Role.PREFILL][source]

    def _letters(self) -> list[tuple[WritePages, tuple[tuple[str, int, int] | None, ...]]]:
        return self.__dict__.setdefault("letters", [])

    def _apply(self, event: on.Event, action: ApplyWrite) -> None:
        for at, (write, pages) in enumerate(self._letters()):
            if write.room == event.room:
                self.content[Role.DECODE] |= dict(zip(action.pages, pages, strict=True))
                del self._letters()[at]
                return

    def _read(self, start: StartDecoding) -> None:
        """What attention would read: whose is it?"""
        table, room = start.table, start.room
        for index, page in enumerate(table.pages[: -(-table.readable_tokens // PAGE)]):
            held = self.content[Role.DECODE][page]
            if held is not None and held[0] != self.tenants[room]:
                self.leaks.append(f"room {room} of {self.tenants[room]} reads {held}")
            if held != (self.tenants[room], room, index):
                self.wrong.append(f"room {room}, page {index}: {held}")
        if len(table.pages[: -(-table.readable_tokens // PAGE)]) < self.pages_of[room]:
            self.wrong.append(f"room {room} reads fewer pages than it asked for")
        self.reports[Role.DECODE] += [
            on.TokensDecoded(room=room, count=1),
            on.AnswerEnded(
                room=room,
                reason="length",
                prompt_tokens=self.pages_of[room] * PAGE,
                completion_tokens=1,
                cached_tokens=0,
            ),
        ]
