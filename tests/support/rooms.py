"""A whole small world for tests of core: a router and two workers, wired by hand; a test decides what happens when.

Messages go through bytes. Whose content lies in which page is kept by `rooms_oracle`, which knows nothing of core.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from kvfence.core import decode_side, prefill_side, router_side, wire
from kvfence.core import events as on
from kvfence.core.actions import (
    Action,
    AnswerClient,
    ApplyWrite,
    ComputePrompt,
    CountCheck,
    DigestPages,
    DropWrite,
    PublishEpochs,
    PullPages,
    ScrubPages,
    Send,
    StartDecoding,
    StartHandoffTimer,
    StartLeaseTimer,
    StopWork,
    WritePages,
)
from kvfence.core.admission import advertised_tokens
from kvfence.core.handoff import Worker, rooms_needing
from kvfence.core.ids import Epoch, Role, RoomId, TenantId
from kvfence.core.invariants import Check
from kvfence.core.pool import Reuse
from kvfence.core.rules import FENCED, Rules, Wire
from support.rooms_oracle import Asked, Content, PageBytes
from support.rooms_values import PAGE, capacity, digest, prefix_keys, worker

STEPS = {Role.PREFILL: prefill_side.step, Role.DECODE: decode_side.step}
PAIRS = tuple((a, b) for a in Role for b in Role if a is not b)


@dataclass
class RoomWorld:
    """Channels are FIFO, each for itself; reports, timers, writes and reads come when a test lets them."""

    rules: Rules = FENCED
    kind: Wire = Wire.PUSH
    prefill_pages: int = 8
    decode_pages: int = 24
    reuse: Reuse = Reuse.LIFO
    hold_writes: bool = False
    hold_reads: bool = False
    workers: dict[Role, Worker] = field(init=False)
    router: router_side.Router = field(init=False)
    store: PageBytes = field(init=False)
    channels: dict[tuple[Role, Role], deque[on.Event]] = field(init=False)
    delivered: dict[tuple[Role, Role], list[on.Event]] = field(init=False)
    reports: dict[Role, list[on.Event]] = field(init=False)
    timers: dict[Role, list[on.Event]] = field(init=False)
    published: dict[int, Epoch] = field(default_factory=dict)
    """Epochs of prefill's pages as a remote reader sees them."""
    in_flight: list[WritePages] = field(default_factory=list)
    reads: list[PullPages] = field(default_factory=list)
    letters: dict[int, tuple[Content, ...]] = field(default_factory=dict)
    """Two-sided wire: the pages that travel in a room's message."""
    reading: dict[int, StartDecoding] = field(default_factory=dict)
    asked: dict[int, Asked] = field(default_factory=dict)
    ends: dict[int, list[on.Event]] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    dead: set[Role] = field(default_factory=set)
    seen: list[tuple[Role, Worker, on.Event, Worker]] = field(default_factory=list)
    """Every step of a worker: before, event, after."""

    def __post_init__(self) -> None:
        sizes = {Role.PREFILL: self.prefill_pages, Role.DECODE: self.decode_pages}
        self.workers = {role: worker(role, pages, self.rules, self.kind, self.reuse) for role, pages in sizes.items()}
        path = [capacity(pages) for pages in sizes.values()]
        self.router = router_side.Router(advertised_tokens=advertised_tokens(path, self.rules), rules=self.rules)
        self.store = PageBytes({role: dict.fromkeys(range(pages)) for role, pages in sizes.items()})
        self.channels = {pair: deque() for pair in PAIRS}
        self.delivered = {pair: [] for pair in PAIRS}
        self.reports = {role: [] for role in Role}
        self.timers = {role: [] for role in Role}

    # --- what a test does ---

    def ask(self, room: int, tenant: str, prompt_pages: int, new_tokens: int = PAGE, story: str | None = None) -> None:
        """Rooms with the same story tell the same text, as far as each goes."""
        self.asked[room] = Asked(tenant, story or f"story of room {room}", prompt_pages)
        asked = on.ClientAsked(
            room=RoomId(room),
            tenant=TenantId(tenant),
            prompt_tokens=prompt_pages * PAGE,
            max_new_tokens=new_tokens,
            prefix_keys=prefix_keys(story, prompt_pages - 1) if story else (),
        )
        self.happen(Role.ROUTER, asked)

    def hang_up(self, room: int) -> None:
        self.happen(Role.ROUTER, on.ClientGone(room=RoomId(room)))

    def deliver(self, sender: Role, receiver: Role) -> bool:
        """The oldest message of one channel."""
        channel = self.channels[sender, receiver]
        if not channel:
            return False
        event = channel.popleft()
        self.delivered[sender, receiver].append(event)
        self.happen(receiver, event)
        return True

    def deliver_again(self, sender: Role, receiver: Role, at: int = -1) -> bool:
        """A message that came before comes once more."""
        before = self.delivered[sender, receiver]
        if not before or receiver in self.dead:
            return False
        self.happen(receiver, before[at % len(before)])
        return True

    def report(self, role: Role, at: int = 0) -> bool:
        """One pending report of a worker's own driver."""
        if not self.reports[role]:
            return False
        event = self.reports[role].pop(at % len(self.reports[role]))
        if isinstance(event, on.TokensDecoded | on.AnswerEnded) and event.room in self.reading:
            self._read(self.reading[event.room])
        self.happen(role, event)
        if isinstance(event, on.AnswerEnded):
            self.reading.pop(event.room, None)
        return True

    def land(self, at: int = 0) -> bool:
        """One write that was held back lands now, whoever has the pages by now."""
        if not self.in_flight:
            return False
        write = self.in_flight.pop(at % len(self.in_flight))
        self.store.put(write.target.pages, self.store.of(Role.PREFILL, write.source))
        self.reports[Role.PREFILL].append(on.WritesLanded(room=write.room))
        return True

    def end_read(self, at: int = 0) -> bool:
        """One read that was held back ends now: its second half is read, then the source's epochs."""
        if not self.reads:
            return False
        self._end_read(self.reads.pop(at % len(self.reads)))
        return True

    def expire(self, role: Role, at: int = 0) -> bool:
        """One timer of a worker fires, early or late."""
        if not self.timers[role]:
            return False
        self.happen(role, self.timers[role].pop(at % len(self.timers[role])))
        return True

    def lose(self, role: Role) -> None:
        """A worker is gone, with its memory, its messages and its writes; whoever is left is told."""
        self.dead.add(role)
        self.reports[role].clear()
        self.timers[role].clear()
        for pair, channel in self.channels.items():
            if role in pair:
                channel.clear()
        if role is Role.DECODE:
            self.reads.clear()
            self.reports[Role.PREFILL] += [on.WritesLanded(room=write.room) for write in self.in_flight]
        self.in_flight.clear()
        for room in tuple(self.router.rooms):
            self.happen(Role.ROUTER, on.WorkerLost(room=room, worker=role))
        (other,) = set(STEPS) - {role}
        for room in rooms_needing(self.workers[other]) if other not in self.dead else ():
            self.happen(other, on.WorkerLost(room=room, worker=role))

    def at_random(self, rng: random.Random) -> None:
        """One thing that can happen, whichever."""
        kind = rng.random()
        if kind < 0.5:
            self.deliver(*rng.choice([pair for pair, channel in self.channels.items() if channel] or PAIRS))
        elif kind < 0.8:
            self.report(rng.choice(list(STEPS)), rng.randrange(8))
        elif kind < 0.9:
            self.land(rng.randrange(8))
            self.end_read(rng.randrange(8))
        elif kind < 0.96 and self.asked:
            self.hang_up(rng.choice(list(self.asked)))
        else:
            self.expire(rng.choice(list(STEPS)), rng.randrange(8))

    def run(self) -> None:
        """Everything that can move without a timer, until nothing does."""
        moved = True
        while moved:
            moved = any([self.deliver(*pair) for pair in PAIRS] + [self.report(role) for role in Role])
            moved = (not self.hold_writes and self.land()) or moved
            moved = (not self.hold_reads and self.end_read()) or moved

    def run_out(self) -> None:
        """Everything that can move, and every timer."""
        self.hold_writes = self.hold_reads = False
        self.run()
        while any(self.expire(role) for role in STEPS):
            self.run()

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

    def _perform(self, role: Role, action: Action, event: on.Event) -> None:
        match action:
            case Send():
                self._send(role, action)
            case ScrubPages():
                self.store.scrub(role, action.pages)
            case DigestPages():
                digests = tuple(digest((action.room, content)) for content in self.store.of(role, action.pages))
                self.reports[role].append(on.PagesDigested(room=action.room, digests=digests))
            case StartLeaseTimer():
                self.timers[role].append(on.LeaseExpired(room=action.room))
            case StartHandoffTimer():
                self.timers[role].append(on.HandoffTimedOut(room=action.room))
            case CountCheck() | DropWrite():
                self.checks.append(action.check)
            case AnswerClient() if not isinstance(action.event, on.TokensDecoded):
                self.ends.setdefault(action.event.room, []).append(action.event)
            case _ if role is Role.PREFILL:
                self._perform_prefill(action)
            case _:
                self._perform_decode(action, event)

    def _perform_prefill(self, action: Action) -> None:
        match action:
            case PublishEpochs():
                self.published |= dict(zip(action.leases.pages, action.leases.epochs, strict=True))
            case ComputePrompt():
                asked = self.asked[action.room]
                first = action.first_slot // PAGE
                self.store.write(Role.PREFILL, action.pages, asked.tenant, asked.story, first)
                self.reports[Role.PREFILL].append(on.PromptComputed(room=action.room))
            case WritePages() if self.kind is Wire.TWO_SIDED:
                self.letters[action.room] = self.store.of(Role.PREFILL, action.source)
                pages = on.PagesOffered(room=action.room, leases=action.target)
                self._send(Role.PREFILL, Send(to=Role.DECODE, event=pages))
                self.reports[Role.PREFILL].append(on.WritesLanded(room=action.room))
            case WritePages():
                self.in_flight.append(action)
            case _:
                pass

    def _perform_decode(self, action: Action, event: on.Event) -> None:
        match action:
            case ApplyWrite():
                self.store.put(action.pages, self.letters[event.room])
            case PullPages():
                half = len(action.target) // 2
                self.store.put(action.target[:half], self.store.of(Role.PREFILL, action.source.pages[:half]))
                self.reads.append(action)
                if not self.hold_reads:
                    self.end_read(-1)
            case StartDecoding():
                self._start(action)
            case StopWork():
                self.reading.pop(action.room, None)
            case _:
                pass

    def _send(self, sender: Role, action: Send) -> None:
        passed = wire.decode(wire.encode(action.event))
        if passed != action.event:
            raise AssertionError(f"{action.event} came out as {passed}")
        if action.to in self.dead:
            self.reports[sender].append(on.WorkerLost(room=passed.room, worker=action.to))
        else:
            self.channels[sender, action.to].append(passed)

    def _end_read(self, pull: PullPages) -> None:
        if Role.PREFILL in self.dead:
            self.reports[Role.DECODE].append(on.PagesPulled(room=pull.room, epochs_after=()))
            return
        half = len(pull.target) // 2
        self.store.put(pull.target[half:], self.store.of(Role.PREFILL, pull.source.pages[half:]))
        after = tuple(self.published[page] for page in pull.source.pages)
        self.reports[Role.DECODE].append(on.PagesPulled(room=pull.room, epochs_after=after))

    def _start(self, start: StartDecoding) -> None:
        """Read once, then once more before each report; the answer's own pages are filled as it goes."""
        asked = self.asked[start.room]
        self.reading[start.room] = start
        self._read(start)
        self.store.write(Role.DECODE, start.table.pages, asked.tenant, f"answer of {start.room}", first=asked.pages)
        ended = on.AnswerEnded(
            room=start.room,
            reason="length",
            prompt_tokens=asked.pages * PAGE,
            completion_tokens=1,
            cached_tokens=start.cached_tokens,
        )
        self.reports[Role.DECODE] += [on.TokensDecoded(room=start.room, count=1), ended]

    def _read(self, start: StartDecoding) -> None:
        table = start.table
        pages = table.pages[: -(-table.readable_tokens // PAGE)]
        self.store.read(f"room {start.room}", pages, self.asked[start.room])
