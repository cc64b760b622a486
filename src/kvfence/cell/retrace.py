"""A trace of the checker, made in the running cell: real drivers, real pages, the real model, the taint oracle.

Nothing moves here but what the trace moves: messages wait in a list until they are named, and writes and reads go page
by page. The router's part is core's, as in `router.py`.
"""

from __future__ import annotations

import queue
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kvfence.cell.asks import Ask
from kvfence.cell.config import CellConfig
from kvfence.cell.decode import DecodeDriver
from kvfence.cell.driver import Plumbing
from kvfence.cell.frames import Frame, Parcel, Work
from kvfence.cell.paged_kv import PagedKV
from kvfence.cell.prefill import PrefillDriver
from kvfence.cell.taint import Oracle
from kvfence.cell.transports.local import LocalWire
from kvfence.core import events as on
from kvfence.core import router_side
from kvfence.core.actions import Send
from kvfence.core.decode_side import Reserved
from kvfence.core.ids import Epoch, PageId, Role, RoomId
from kvfence.core.lease import Leases
from kvfence.errors import UnsupportedError
from kvfence.verify.callers import made_up
from kvfence.verify.move import Kind, Move
from kvfence.verify.world import TENANT_NAMES, WORKERS, Client, Setting

_TIMERS = {"HandoffTimedOut": on.HandoffTimedOut, "LeaseExpired": on.LeaseExpired}


@dataclass(frozen=True, slots=True)
class Retraced:
    """What the cell has come to."""

    foreign_reads: int
    """How many reads of another tenant's slots the taint oracle saw at decode."""
    live: tuple[tuple[Role, RoomId], ...]
    """Rooms that a worker still holds."""


def retraced(setting: Setting, moves: Sequence[Move]) -> Retraced:
    """Make these moves; then every answer that runs reads its pages once more.

    Raises `UnsupportedError` for a move that this cell has not: a worker that dies.
    """
    cell = _RetracedCell(setting)
    for move in moves:
        cell.make(move)
    return cell.come_to()


def in_words(setting: Setting, moves: Sequence[Move]) -> str:
    """What `retraced` comes to, in a sentence; also that it cannot be made."""
    try:
        seen = retraced(setting, moves)
    except UnsupportedError as error:
        return str(error)
    reads = f"the taint oracle saw {seen.foreign_reads or 'no'} read{'' if seen.foreign_reads == 1 else 's'}"
    held = ", ".join(f"{role} holds room {room}" for role, room in seen.live) or "no worker holds a room"
    return f"{reads} of another tenant's slots at decode; {held}"


class PageByPage:
    """A wire that does nothing before it is told, and then one page."""

    def __init__(self, own: PagedKV, peer: PagedKV) -> None:
        self._inner = LocalWire(own, peer)
        self._peer = peer
        self._writes: dict[tuple[RoomId, int], tuple[PageId, Leases]] = {}
        self._reads: dict[RoomId, tuple[Leases, Sequence[PageId]]] = {}
        self._landed: list[RoomId] = []
        self._pulled: list[tuple[RoomId, tuple[Epoch, ...]]] = []

    def write(self, room: RoomId, source: Sequence[PageId], target: Leases) -> bool:
        """Keep each page for `land`."""
        for at, page in enumerate(source):
            self._writes[room, at] = page, target.after(at).first(1)
        return False

    def land(self, room: RoomId, at: int, *, posted: bool) -> None:
        """One page lands, or turns out never to have been posted; with the last, the room's writes have landed."""
        page, target = self._writes.pop((room, at))
        if posted:
            self._inner.write(room, (page,), target)
        if all(other != room for other, _ in self._writes):
            self._landed.append(room)

    def read(self, room: RoomId, source: Leases, target: Sequence[PageId]) -> tuple[Epoch, ...] | None:
        """Keep it for `read_page` and `end_read`."""
        self._reads[room] = source, target
        return None

    def read_page(self, room: RoomId, at: int) -> None:
        """One page is read."""
        source, target = self._reads[room]
        self._inner.read(room, source.after(at).first(1), target[at : at + 1])

    def end_read(self, room: RoomId) -> None:
        """The read is over: these are the source's epochs now."""
        source, _ = self._reads.pop(room)
        self._pulled.append((room, tuple(Epoch(epoch) for epoch in self._peer.epochs_of(source.pages))))

    def landed(self) -> Sequence[RoomId]:
        """Rooms whose last page has landed since the last call."""
        landed, self._landed = self._landed, []
        return landed

    def pulled(self) -> Sequence[tuple[RoomId, tuple[Epoch, ...]]]:
        """Rooms whose reads have ended since the last call."""
        pulled, self._pulled = self._pulled, []
        return pulled

    def due_in_s(self) -> float | None:
        """Nothing happens of its own accord."""
        return None


class _Prefill(PrefillDriver):
    def compute(self, room: RoomId) -> None:
        """One chunk of this room's prompt."""
        self._computing.move_to_end(room, last=False)
        self._compute_chunk()

    def go_on(self, frame: Frame | None = None) -> None:
        """Take a message, if there is one; hear of the wire; post what there is to post."""
        if frame is not None:
            self._open(frame)
        self._look_at_wire()
        while self._send_slice():
            pass


class _Decode(DecodeDriver):
    def go_on(self, frame: Frame | None = None) -> None:
        """Take a message, if there is one; hear of the wire."""
        if frame is not None:
            self._open(frame)
        self._look_at_wire()

    def answer(self, room: RoomId) -> None:
        """One token of this room's answer, if it has one."""
        asked = self._asked.get(room)
        if asked is not None and asked.sequence is not None:
            self._advance(room, asked.sequence)


class _Post:
    """One direction of the mail: what was sent, in order, until it is named."""

    def __init__(self, frames: list[Frame]) -> None:
        self._frames = frames

    def put(self, item: Parcel) -> None:
        """Keep a message; figures are nobody's here."""
        if isinstance(item, Frame):
            self._frames.append(item)


class _RetracedCell:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        bound, size = setting.bound, setting.bound.page_size
        config = CellConfig(
            prefill_pool_tokens=bound.prefill_pages * size,
            decode_pool_tokens=bound.decode_pages * size,
            context_tokens=bound.context_tokens,
            page_size=size,
            chunk_tokens=size,
            rules=setting.rules,
            wire=setting.wire,
            reuse=setting.reuse,
            oracle=Oracle.RECORD,
        )
        self._router = router_side.Router(advertised_tokens=bound.context_tokens, rules=setting.rules)
        self._asks: dict[RoomId, Ask] = {}
        self._mail: defaultdict[tuple[Role | None, Role | None], list[Frame]] = defaultdict(list)
        self._stores = {role: PagedKV.private(config, role) for role in WORKERS}
        prefill, decode = self._stores[Role.PREFILL], self._stores[Role.DECODE]
        self._writes, self._reads = PageByPage(prefill, decode), PageByPage(decode, prefill)
        self._prefill = _Prefill(config, self._plumbing(Role.PREFILL, self._writes))
        self._decode = _Decode(config, self._plumbing(Role.DECODE, self._reads))

    def make(self, move: Move) -> None:
        """One move of a trace, and what the drivers do of themselves because of it."""
        room = RoomId(move.room)
        moves: dict[Kind, Callable[[], object]] = {
            Kind.ASK: partial(self._ask, move),
            Kind.HANG_UP: partial(self._happen, on.ClientGone(room=room)),
            Kind.DELIVER: partial(self._deliver, move),
            Kind.DUPLICATE: partial(self._deliver, move, keep=True),
            Kind.DROP: partial(self._take, move),
            Kind.PRESENT: partial(self._present, move),
            Kind.FORGE: partial(self._forge, move),
            Kind.COMPUTE: partial(self._prefill.compute, room),
            Kind.LAND: partial(self._writes.land, room, move.at, posted=True),
            Kind.NOT_POSTED: partial(self._writes.land, room, move.at, posted=False),
            Kind.READ: partial(self._reads.read_page, room, move.at),
            Kind.END_READ: partial(self._reads.end_read, room),
            Kind.END_ANSWER: partial(self._decode.answer, room),
            Kind.TIME_OUT: partial(self._time_out, move),
            Kind.LOSE_PATIENCE: partial(self._time_out, move),
        }
        if move.kind not in moves:
            raise UnsupportedError(f"a worker of the stepped cell cannot die, so the trace is not made: {move.kind}")
        moves[move.kind]()
        self._prefill.go_on()
        self._decode.go_on()

    def come_to(self) -> Retraced:
        """Let every answer read once more, and see."""
        for room in tuple(self._decode.worker.rooms):
            self._decode.answer(room)
        live = ((role, room) for role in WORKERS for room in self._driver(role).worker.rooms)
        return Retraced(self._stores[Role.DECODE].foreign_reads, tuple(live))

    def _driver(self, role: Role | None) -> _Prefill | _Decode:
        return self._prefill if role is Role.PREFILL else self._decode

    def _ask(self, move: Move) -> None:
        client = Client(move.room, move.tenant, self._setting.bound.shapes[move.at])
        shape, room = client.shape, RoomId(move.room)
        prompt = bytes(64 + move.room for _ in range(shape.prompt_tokens))
        self._asks[room] = Ask(tenant=TENANT_NAMES[move.tenant], prompt=prompt, max_new_tokens=shape.new_tokens)
        self._happen(self._setting.asked(client))

    def _happen(self, event: on.Event) -> None:
        self._router, actions = router_side.step(self._router, event)
        for action in actions:
            if isinstance(action, Send):
                frame = Frame.of(action.event, Work.beside(action.event, self._asks))
                self._mail[Role.ROUTER, action.to].append(frame)

    def _deliver(self, move: Move, *, keep: bool = False) -> None:
        frame = self._take(move, keep=keep)
        if move.role is Role.ROUTER:
            self._happen(frame.event())
        else:
            self._driver(move.role).go_on(frame)

    def _present(self, move: Move) -> None:
        """The message of another room that is on its way to decode, brought for this one."""
        other = Move(Kind.DELIVER, move.at, Role.DECODE, Role.PREFILL, on.ManifestReceived.__name__)
        event = self._take(other, keep=True).event()
        if isinstance(event, on.ManifestReceived):
            self._bring(replace(event, room=RoomId(move.room)))

    def _forge(self, move: Move) -> None:
        reserved = self._decode.worker.rooms[RoomId(move.room)]
        if isinstance(reserved, Reserved):
            manifest = made_up(reserved, self._prefill.worker)[move.at]
            self._bring(on.ManifestReceived(room=RoomId(move.room), manifest=manifest))

    def _bring(self, event: on.Event) -> None:
        self._decode.go_on(Frame.of(event))

    def _take(self, move: Move, *, keep: bool = False) -> Frame:
        """The message that a move names: by its kind, its room, and its place among those that are like it."""
        frames = self._mail[move.sender, move.role]
        named = [frame for frame in frames if _is_named(frame, move)]
        if not keep:
            frames.remove(named[move.at])
        return named[move.at]

    def _time_out(self, move: Move) -> None:
        self._driver(move.role).happen(_TIMERS[move.event](room=RoomId(move.room)))

    def _plumbing(self, role: Role, wire: PageByPage) -> Plumbing:
        return Plumbing(
            store=self._stores[role],
            wire=wire,
            inbox=queue.SimpleQueue(),
            outboxes={to: _Post(self._mail[role, to]) for to in Role},
            clock=lambda: 0.0,
        )


def _is_named(frame: Frame, move: Move) -> bool:
    event = frame.event()
    return type(event).__name__ == move.event and event.room == move.room
