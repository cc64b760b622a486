"""The router's driver: the engine behind the HTTP face. It lives in the event loop's thread and decides nothing."""

from __future__ import annotations

import asyncio
import itertools
import logging
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace

import kvfence
from kvfence.cell.asks import STOPPING, Answer, Ask, Faulted, Finished, Piece, Refused, Sample
from kvfence.cell.config import CellConfig, start_figures
from kvfence.cell.frames import Control, Frame, Inbox, Outbox, Report, Work
from kvfence.cell.prefix import prefix_keys
from kvfence.core import events as on
from kvfence.core import router_side
from kvfence.core.actions import AnswerClient, Send
from kvfence.core.ids import Role, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.wire import WireError

LOG = logging.getLogger("kvfence.cell")


class RouterDriver:
    """Implements `asks.Engine`. `start` must be called in the event loop that serves the clients."""

    def __init__(
        self,
        config: CellConfig,
        *,
        inbox: Inbox,
        own: Outbox,
        outboxes: Mapping[Role, Outbox],
        alive: Callable[[], Mapping[Role, bool]],
    ) -> None:
        self.model = config.model
        self._config = config
        self._router = router_side.Router(advertised_tokens=config.advertised_tokens, rules=config.rules)
        self._inbox = inbox
        self._own = own
        self._outboxes = outboxes
        self._alive = alive
        self._rooms = itertools.count(1)
        self._answers: dict[RoomId, asyncio.Queue[Answer]] = {}
        self._asks: dict[RoomId, Ask] = {}
        self._reports: dict[str, Report] = {}
        self._lost: set[Role] = set()
        self._refusals = 0
        self._requests = 0
        self._stopping = False
        self._listener: threading.Thread | None = None

    @property
    def usable_tokens(self) -> int:
        """What is advertised now."""
        return self._router.advertised_tokens

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to listen to the workers; their messages are handled in `loop`'s thread."""
        self._listener = threading.Thread(target=self._listen, args=(loop,), name="kvfence-router", daemon=True)
        self._listener.start()

    def stop(self) -> None:
        """Stop listening."""
        self._own.put(Control.STOP)
        if self._listener is not None:
            self._listener.join(timeout=5)

    async def answer(self, ask: Ask) -> AsyncIterator[Answer]:
        """Yield pieces, then exactly one end. Closing early tells the workers that the client is gone."""
        if self._stopping:
            yield STOPPING
            return
        if self._lost:
            # Offered to those that are left, it would hold their pages for ever: nobody says that a dead peer is quiet.
            yield Faulted(check=Check.WORKER_LOST, message=f"{min(self._lost)} is gone; the cell must be started again")
            return
        room = RoomId(next(self._rooms))
        answers: asyncio.Queue[Answer] = asyncio.Queue()
        self._answers[room], self._asks[room] = answers, ask
        self._requests += 1
        keys = prefix_keys(ask.prompt, self._config.page_size)
        try:
            self._happen(
                on.ClientAsked(
                    room=room,
                    tenant=TenantId(ask.tenant),
                    prompt_tokens=len(ask.prompt),
                    max_new_tokens=ask.max_new_tokens,
                    prefix_keys=keys,
                )
            )
            while True:
                item = await answers.get()
                yield item
                if not isinstance(item, Piece):
                    return
        finally:
            if room in self._router.rooms:
                self._happen(on.ClientGone(room=room))
            self._answers.pop(room, None)
            self._asks.pop(room, None)

    @property
    def open_answers(self) -> int:
        """How many clients wait for an end."""
        return len(self._answers)

    def refuse_new(self) -> None:
        """Refuse every later request: the server is stopping. Nobody should send it more, so it is not healthy."""
        self._stopping = True

    def end_open(self) -> None:
        """End every open answer with an error that says so, and let the workers give its pages back."""
        for room in tuple(self._router.rooms):
            self._happen(on.ClientGone(room=room))
            self._answers[room].put_nowait(STOPPING)

    def healthy(self) -> bool:
        """Whether it takes requests, every worker runs and something can be held; notices a worker that is gone."""
        alive = self._alive()
        for role, running in alive.items():
            if not running and role not in self._lost:
                self._lose(role)
        return not self._stopping and all(alive.values()) and self.usable_tokens > 0

    def samples(self) -> Iterable[Sample]:
        """The workers' last figures, and the router's own."""
        yield Sample(
            name="requests_total", kind="counter", value=self._requests, help="Requests that reached the router."
        )
        yield Sample(
            name="refused_total",
            kind="counter",
            value=self._refusals,
            help="Requests refused at a gate.",
            labels=(("worker", "router-0"),),
        )
        yield Sample(
            name="rooms_open", kind="gauge", value=len(self._router.rooms), help="Rooms that the router has open."
        )
        for role in (Role.PREFILL, Role.DECODE):
            yield Sample(
                name="worker_info",
                kind="gauge",
                value=1,
                help="What a worker is: the figures of its start line, which kvfence audit reads here as well.",
                labels=(("worker", f"{role}-0"), *start_figures(self._config, role, kvfence.__version__)),
            )
        for report in self._reports.values():
            for (name, labels), value in sorted(report.figures.items()):
                yield Sample(
                    name=name,
                    kind="counter" if name.endswith("_total") else "gauge",
                    value=value,
                    help=name.replace("_", " ").removesuffix(" total") + " of a worker.",
                    labels=(("worker", f"{report.role}-0"), *labels),
                )

    # --- inside; everything below runs in the event loop's thread, but for `_listen` ---

    def _happen(self, event: on.Event, payload: bytes = b"") -> None:
        promised = self.usable_tokens
        self._router, actions = router_side.step(self._router, event)
        if self.usable_tokens != promised:
            LOG.warning("kvfence cell limit: max_model_len=%d was=%d", self.usable_tokens, promised)
        for action in actions:
            match action:
                case Send():
                    self._outboxes[action.to].put(Frame.of(action.event, Work.beside(action.event, self._asks)))
                case AnswerClient():
                    self._deliver(action.event, payload)
                case _:
                    raise TypeError(f"the router cannot {type(action).__name__}")

    def _deliver(self, event: on.Event, payload: bytes) -> None:
        answers = self._answers.get(event.room)
        if answers is not None:
            answers.put_nowait(self._as_answer(event, payload))

    def _as_answer(self, event: on.Event, payload: bytes) -> Answer:
        match event:
            case on.TokensDecoded():
                return Piece(payload)
            case on.AnswerEnded():
                return Finished(
                    reason="stop" if event.reason == "stop" else "length",
                    prompt_tokens=event.prompt_tokens,
                    completion_tokens=event.completion_tokens,
                    cached_tokens=event.cached_tokens,
                )
            case on.RequestRefused():
                prompt = len(self._asks[event.room].prompt)
                if event.refusal.gate is Role.ROUTER:
                    self._note_refusal(event, prompt)
                return Refused(
                    asked_tokens=event.refusal.asked_tokens,
                    prompt_tokens=prompt,
                    usable_tokens=event.refusal.usable_tokens,
                    gate=event.refusal.gate,
                )
            case on.RequestFaulted():
                return Faulted(check=event.check, message=event.message)
            case _:
                raise TypeError(f"{type(event).__name__} is no answer")

    def _note_refusal(self, event: on.RequestRefused, prompt_tokens: int) -> None:
        self._refusals += 1
        LOG.warning(
            "kvfence cell refused: worker=router-0 room=%d prompt_tokens=%d usable_tokens=%d",
            event.room,
            prompt_tokens,
            event.refusal.usable_tokens,
        )

    def _lose(self, role: Role) -> None:
        self._lost.add(role)
        LOG.error("kvfence cell lost: worker=%s-0", role)
        order = Control.PREFILL_LOST if role is Role.PREFILL else Control.DECODE_LOST
        for other, outbox in self._outboxes.items():
            if other is not role:
                outbox.put(order)
        for room in tuple(self._router.rooms):
            self._happen(on.WorkerLost(room=room, worker=role))

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            try:
                parcel = self._inbox.get(timeout=0.5)
            except queue.Empty:
                loop.call_soon_threadsafe(self.healthy)
                continue
            if parcel is Control.STOP:
                return
            loop.call_soon_threadsafe(self._receive, parcel)

    def _receive(self, parcel: Frame | Control | Report) -> None:
        match parcel:
            case Report():
                self._reports[parcel.role] = replace(parcel, log=())
                for line in parcel.log:
                    LOG.warning("%s", line)
            case Frame():
                try:
                    self._happen(parcel.event(), parcel.payload)
                except (WireError, Violation) as error:
                    LOG.warning("kvfence cell message refused: worker=router %s", error)
            case Control():
                pass
