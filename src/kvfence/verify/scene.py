"""One event, and everything that follows from it at once: core's step, and its actions carried out in order.

This does to pages, mail and work what the cell's drivers do to theirs. It decides nothing: what to do is core's, and
when it happens is chosen in `moves.py`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from operator import attrgetter

from kvfence.core import events as on
from kvfence.core.actions import (
    Action,
    AnswerClient,
    ApplyWrite,
    ComputePrompt,
    CountCheck,
    DigestPages,
    PullPages,
    ScrubPages,
    Send,
    StartDecoding,
    StopWork,
    WritePages,
)
from kvfence.core.ids import Digest, PageId, Role, RoomId
from kvfence.core.invariants import Violation
from kvfence.core.rules import Wire
from kvfence.verify.kept import Kept
from kvfence.verify.machines import step_router, step_worker
from kvfence.verify.marks import Page, blank, digest_of, write
from kvfence.verify.properties import Broken, Property
from kvfence.verify.world import (
    EVENTS,
    JOBS,
    LETTERS,
    Answering,
    Client,
    Computing,
    End,
    Job,
    Letter,
    Notice,
    Reading,
    World,
    Write,
)

_NUMBER = attrgetter("number")
_ENDS = {on.AnswerEnded: End.ANSWERED, on.RequestRefused: End.REFUSED, on.RequestFaulted: End.FAULTED}


class Scene:
    """A world that is being changed. Made for one move, and then frozen."""

    def __init__(self, world: World, wire: Wire) -> None:
        self._wire = wire
        self.router = world.router
        self.workers = {Role.PREFILL: world.prefill, Role.DECODE: world.decode}
        self.pages = {Role.PREFILL: world.prefill_pages, Role.DECODE: world.decode_pages}
        self.mail = list(world.mail)
        self.work = list(world.work)
        self.clients = world.clients
        self.tenants_met = world.tenants_met
        self.left = world.left
        self.dead = world.dead
        self.notices = world.notices
        self._pending: deque[tuple[Role, Kept[on.Event], tuple[Page, ...]]] = deque()

    def frozen(self) -> World:
        """The world as it is now. Mail and work are in no order, so any one order stands for all."""
        self.mail.sort(key=_NUMBER)
        self.work.sort(key=_NUMBER)
        return World(
            self.router,
            self.workers[Role.PREFILL],
            self.workers[Role.DECODE],
            self.pages[Role.PREFILL],
            self.pages[Role.DECODE],
            tuple(self.mail),
            tuple(self.work),
            self.clients,
            self.tenants_met,
            self.left,
            self.dead,
            self.notices,
        )

    def happen(self, role: Role, event: on.Event | Kept[on.Event], pages: tuple[Page, ...] = ()) -> None:
        """Give `event` to a machine and do what it says; what that causes at once follows in its order."""
        self._pending.append((role, event if isinstance(event, Kept) else EVENTS.keep(event), pages))
        if len(self._pending) > 1:
            return
        while self._pending:
            self._step(*self._pending[0])
            self._pending.popleft()

    def change_client(self, changed: Client) -> None:
        """Note something about one request."""
        self.clients = tuple(changed if client.room == changed.room else client for client in self.clients)

    def client(self, room: int) -> Client:
        """The request of that room."""
        return next(client for client in self.clients if client.room == room)

    def add(self, job: Job) -> None:
        """Something to be done later."""
        self.work.append(JOBS.keep(job))

    def put(self, role: Role, targets: tuple[PageId, ...], pages: tuple[Page, ...]) -> None:
        """Whole pages over a worker's own."""
        changed = list(self.pages[role])
        for target, page in zip(targets, pages, strict=True):
            changed[target] = page
        self.pages[role] = tuple(changed)

    # --- inside ---

    def _step(self, role: Role, event: Kept[on.Event], pages: tuple[Page, ...]) -> None:
        if role is Role.ROUTER:
            answer = step_router(self.router, event)
            if isinstance(answer, Violation):
                raise Broken(Property.TABLES, str(answer))
            self.router, actions = answer
        else:
            found = step_worker(role, self.workers[role], event)
            if isinstance(found, Violation):
                raise Broken(Property.TABLES, str(found))
            self.workers[role], actions = found
        for action in actions:
            self._perform(role, action, pages)
        room = event.value.room
        if role is not Role.ROUTER and room not in self.workers[role].value.rooms:
            self._forget(role, room)

    def _perform(self, role: Role, action: Action, pages: tuple[Page, ...]) -> None:
        match action:
            case Send():
                self._send(role, action.to, action.event)
            case ScrubPages():
                clean = blank(len(self.pages[role][0]))
                self.put(role, action.pages, (clean,) * len(action.pages))
            case DigestPages():
                digests = tuple(Digest(digest_of(action.room, self.pages[role][page])) for page in action.pages)
                self.happen(role, on.PagesDigested(room=action.room, digests=digests))
            case StopWork():
                self._stop(role, action.room)
            case CountCheck():
                self.change_client(self.client(action.room)._replace(failed_check=True))
            case AnswerClient():
                self._answer(action.event)
            case ApplyWrite():
                self.put(role, action.pages, pages)
            case _:
                self._begin(action)

    def _begin(self, action: Action) -> None:
        """Actions that begin something.

        The others are counts, log lines, timers (fired where a room waits for one) and epochs (looked up in the pool).
        """
        match action:
            case ComputePrompt():
                self.add(Computing(action.room, action.pages, action.first_slot, action.tokens))
            case WritePages():
                self._write_pages(action)
            case PullPages():
                self.add(Reading(action.room, action.source, action.target))
            case StartDecoding():
                self._start_decoding(action)
            case _:
                pass

    def _send(self, sender: Role, to: Role, event: on.Event) -> None:
        kept = EVENTS.keep(event)
        if to not in self.dead:
            self.mail.append(LETTERS.keep(Letter(sender, to, kept)))
        elif Notice(sender, to) not in self.notices:  # it knows already: the connection cannot be made
            gone = EVENTS.keep(on.WorkerLost(room=event.room, worker=to))
            self.mail.append(LETTERS.keep(Letter(sender, sender, gone)))

    def _write_pages(self, action: WritePages) -> None:
        if self._wire is Wire.TWO_SIDED:
            event = EVENTS.keep(on.PagesOffered(room=action.room, leases=action.target))
            pages = tuple(self.pages[Role.PREFILL][page] for page in action.source)
            if Role.DECODE not in self.dead:
                self.mail.append(LETTERS.keep(Letter(Role.PREFILL, Role.DECODE, event, pages)))
            self.happen(Role.PREFILL, on.WritesLanded(room=action.room))
            return
        target = action.target
        for at, (source, page, epoch) in enumerate(zip(action.source, target.pages, target.epochs, strict=True)):
            self.add(Write(action.room, at, source, None if Role.DECODE in self.dead else page, epoch))

    def _start_decoding(self, action: StartDecoding) -> None:
        """From now on the table is read at any moment; the answer's slots are written as the first thing."""
        client = self.client(action.room)
        start, pages = action.table.readable_tokens, action.table.pages
        asked = client.shape.prompt_tokens
        answer = client.marks(asked, asked + action.max_new_tokens)
        self.pages[Role.DECODE] = write(self.pages[Role.DECODE], pages, start, answer)
        self.add(Answering(action.room, pages, start + len(answer), action.cached_tokens))

    def _stop(self, role: Role, room: RoomId) -> None:
        self._forget(role, room)
        if role is Role.PREFILL:
            self.work = [
                JOBS.keep(replace(job.value, stopped=True))
                if isinstance(job.value, Write) and job.value.room == room
                else job
                for job in self.work
            ]

    def _forget(self, role: Role, room: RoomId) -> None:
        """What was computed or generated for a room that has ended goes no further; writes and reads under way do."""
        kind = Computing if role is Role.PREFILL else Answering
        self.work = [job for job in self.work if not (isinstance(job.value, kind) and job.value.room == room)]

    def _answer(self, event: on.Event) -> None:
        end = _ENDS.get(type(event))
        if end is None:
            return  # tokens; the state that may send them is what is looked at
        client = self.client(event.room)
        if client.end is End.WAITING:
            self.change_client(client._replace(end=end))
        elif client.end is not End.GONE:
            raise Broken(Property.ENDS, f"room {event.room} was {client.end} and now is {end}")
