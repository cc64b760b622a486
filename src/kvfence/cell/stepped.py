"""The same cell, stepped by hand: real drivers, stores and model, no threads, a clock that moves when told.

The ablation and tests use it to put an event exactly where they want it. The router's part is core's, as in
`router.py`; only the event loop around it is missing.
"""

from __future__ import annotations

import itertools
import queue
from dataclasses import dataclass, field

from kvfence.cell.asks import Ask
from kvfence.cell.config import CellConfig
from kvfence.cell.driver import Driver, Plumbing
from kvfence.cell.faults import HeldWire
from kvfence.cell.frames import Frame, Parcel, Work
from kvfence.cell.paged_kv import PagedKV
from kvfence.cell.prefix import prefix_keys
from kvfence.cell.transports.local import LocalWire
from kvfence.cell.workers import WORKER_ROLES, new_driver
from kvfence.core import events as on
from kvfence.core import router_side
from kvfence.core.actions import AnswerClient, Send
from kvfence.core.ids import Role, RoomId, TenantId


@dataclass(slots=True)
class SteppedAnswer:
    """What a client has received so far."""

    text: bytes = b""
    end: on.Event | None = None

    @property
    def finished(self) -> bool:
        """Whether a whole answer came, with status 200."""
        return isinstance(self.end, on.AnswerEnded)


@dataclass(slots=True)
class _Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class SteppedCell:
    """A whole cell in one thread."""

    config: CellConfig
    clock: _Clock = field(default_factory=_Clock)
    answers: dict[RoomId, SteppedAnswer] = field(default_factory=dict)
    wires: dict[Role, HeldWire] = field(init=False)
    drivers: dict[Role, Driver] = field(init=False)
    stores: dict[Role, PagedKV] = field(init=False)
    _router: router_side.Router = field(init=False)
    _boxes: dict[Role, queue.SimpleQueue[Parcel]] = field(init=False)
    _asks: dict[RoomId, Ask] = field(default_factory=dict)
    _rooms: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        config = self.config
        self._router = router_side.Router(advertised_tokens=config.advertised_tokens, rules=config.rules)
        self._boxes = {role: queue.SimpleQueue() for role in Role}
        self.stores = {role: PagedKV.private(config, role) for role in WORKER_ROLES}
        prefill, decode = self.stores[Role.PREFILL], self.stores[Role.DECODE]
        self.wires = {
            Role.PREFILL: HeldWire(LocalWire(prefill, decode)),
            Role.DECODE: HeldWire(LocalWire(decode, prefill)),
        }
        self.drivers = {role: new_driver(role, config, self._plumbing(role)) for role in WORKER_ROLES}

    def ask(self, ask: Ask, *, held: bool = False) -> RoomId:
        """A client asks; with `held`, the wire holds this room's pages back. Nothing runs yet."""
        room = RoomId(next(self._rooms))
        self.answers[room], self._asks[room] = SteppedAnswer(), ask
        if held:
            for wire in self.wires.values():
                wire.hold.add(room)
        self._happen(
            on.ClientAsked(
                room=room,
                tenant=TenantId(ask.tenant),
                prompt_tokens=len(ask.prompt),
                max_new_tokens=ask.max_new_tokens,
                prefix_keys=prefix_keys(ask.prompt, self.config.page_size),
            )
        )
        return room

    def hang_up(self, room: RoomId) -> None:
        """The client goes away."""
        self._happen(on.ClientGone(room=room))

    def turn(self, role: Role) -> bool:
        """One round of one worker, then whatever reached the router."""
        busy = self.drivers[role].turn()
        return self._take_router_mail() or busy

    def settle(self) -> None:
        """Both workers in turn, until nothing moves."""
        busy = True
        while busy:
            prefill, decode = self.turn(Role.PREFILL), self.turn(Role.DECODE)
            busy = prefill or decode

    def let_go(self) -> None:
        """Whatever the wires hold happens now."""
        for wire in self.wires.values():
            wire.let_go()

    def mail(self, role: Role) -> list[Parcel]:
        """Take everything out of a worker's mailbox; `post` puts it back, changed or not."""
        box, taken = self._boxes[role], []
        while not box.empty():
            taken.append(box.get())
        return taken

    def post(self, role: Role, parcel: Parcel) -> None:
        """Put something into a worker's mailbox."""
        self._boxes[role].put(parcel)

    def wait(self, seconds: float) -> None:
        """Let time pass; timers fire at the next turn."""
        self.clock.now += seconds

    def _plumbing(self, role: Role) -> Plumbing:
        return Plumbing(
            store=self.stores[role],
            wire=self.wires[role],
            inbox=self._boxes[role],
            outboxes=self._boxes,
            clock=self.clock,
        )

    def _take_router_mail(self) -> bool:
        took = False
        while not self._boxes[Role.ROUTER].empty():
            parcel = self._boxes[Role.ROUTER].get()
            if isinstance(parcel, Frame):
                took = True
                self._happen(parcel.event(), parcel.payload)
        return took

    def _happen(self, event: on.Event, payload: bytes = b"") -> None:
        self._router, actions = router_side.step(self._router, event)
        for action in actions:
            match action:
                case Send():
                    self._boxes[action.to].put(Frame.of(action.event, Work.beside(action.event, self._asks)))
                case AnswerClient(event=on.TokensDecoded(room=room)):
                    self.answers[room].text += payload
                case AnswerClient():
                    self.answers[action.event.room].end = action.event
                case _:
                    raise TypeError(f"the router cannot {type(action).__name__}")
