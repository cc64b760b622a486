"""What a state is: core's three machines, the pages, and everything that is under way. A value; nothing happens here.

    machines     router, prefill, decode, as core has them
    pages        by slot, who wrote last
    mail         messages in flight: in no order, each can be lost or come twice
    work         what a worker was asked for and has not done: computing, writes that have not landed, reads, answers
    clients      who asked for what and has heard how it ended
    left         what may still go wrong

Timers are not kept: a wait for the handoff can run out wherever decode has reserved, a lease wherever prefill holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NamedTuple

from kvfence.core import events as on
from kvfence.core.admission import Capacity, advertised_tokens
from kvfence.core.handoff import Worker, new_worker
from kvfence.core.ids import PageId, PrefixKey, Role, RoomId, TenantId
from kvfence.core.lease import Leases
from kvfence.core.pool import Reuse
from kvfence.core.router_side import Router
from kvfence.core.rules import Layer, Rules, Wire
from kvfence.verify.bound import Bound, Budget, Shape
from kvfence.verify.kept import Kept, Shelf
from kvfence.verify.marks import SHARED_STORIES, Mark, Page, blank, mark

WORKERS = (Role.PREFILL, Role.DECODE)
TENANT_NAMES = "ABCDEFGH"


class End(StrEnum):
    """How a client's request has ended for the client."""

    WAITING = "waiting"
    ANSWERED = "answered"
    REFUSED = "refused"
    FAULTED = "faulted"
    GONE = "gone"


class Client(NamedTuple):
    """One request as its client sees it."""

    room: int
    tenant: int
    shape: Shape
    end: End = End.WAITING
    failed_check: bool = False
    """Whether a worker has counted a failed check for it."""

    @property
    def story(self) -> int:
        """Which text it is of."""
        return self.room if self.shape.story is None else SHARED_STORIES + self.shape.story

    def marks(self, start: int, stop: int) -> list[Mark]:
        """Its tokens [start, stop): the prompt's, then the answer's, which is its own whatever the prompt."""
        asked = self.shape.prompt_tokens
        return [mark(self.tenant, self.story if at < asked else self.room, at) for at in range(start, stop)]


@dataclass(frozen=True, slots=True)
class Letter:
    """A control message in flight, with the pages that travel in it (two-sided wire)."""

    sender: Role
    to: Role
    event: Kept[on.Event]
    pages: tuple[Page, ...] = ()


@dataclass(frozen=True, slots=True)
class Computing:
    """Prefill fills one page after the other."""

    role: ClassVar[Role] = Role.PREFILL
    room: RoomId
    pages: tuple[PageId, ...]
    next_slot: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Write:
    """One page on its way into decode's memory: it lands whenever it lands, and nobody can refuse it."""

    room: RoomId
    at: int
    source: PageId
    target: PageId | None
    """None where the memory that it was meant for is gone."""
    epoch: int
    stopped: bool = False
    """Prefill was told to stop: it may not have been posted at all."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Decode's read of prefill's pages, page by page; the epochs are looked at when it ends."""

    room: RoomId
    source: Leases
    target: tuple[PageId, ...]
    done: int = 0
    source_lives: bool = True


@dataclass(frozen=True, slots=True)
class Answering:
    """Decode attends to slots [0, `length`) of its page table, at any moment."""

    role: ClassVar[Role] = Role.DECODE
    room: RoomId
    pages: tuple[PageId, ...]
    length: int
    cached_tokens: int


Job = Computing | Write | Reading | Answering


class Notice(NamedTuple):
    """`told` will learn that `lost` is gone, and with it all that was on the way from it."""

    told: Role
    lost: Role


class World(NamedTuple):
    """One state. Parts that are large are kept once, so that states compare quickly."""

    router: Kept[Router]
    prefill: Kept[Worker]
    decode: Kept[Worker]
    prefill_pages: tuple[Page, ...]
    decode_pages: tuple[Page, ...]
    mail: tuple[Kept[Letter], ...]
    work: tuple[Kept[Job], ...]
    clients: tuple[Client, ...]
    tenants_met: int
    left: Budget
    dead: tuple[Role, ...] = ()
    notices: tuple[Notice, ...] = ()

    def worker(self, role: Role) -> Worker:
        """The machine of prefill or decode."""
        return (self.prefill if role is Role.PREFILL else self.decode).value

    def client(self, room: int) -> Client | None:
        """The request of that room, until it is forgotten."""
        return next((client for client in self.clients if client.room == room), None)


EVENTS: Shelf[on.Event] = Shelf()
ROUTERS: Shelf[Router] = Shelf()
WORKERS_KEPT: Shelf[Worker] = Shelf()
LETTERS: Shelf[Letter] = Shelf()
JOBS: Shelf[Job] = Shelf()


@dataclass(frozen=True, slots=True)
class Setting:
    """What does not change while one space is explored."""

    rules: Rules
    wire: Wire
    bound: Bound
    reuse: Reuse = Reuse.LIFO
    only_reads: bool = False
    """Whether nothing is asked but what is read: then a layer's own promise is not looked at where it is broken."""

    def asks(self, layer: Layer) -> bool:
        """Whether the promise of `layer` is looked at."""
        return self.rules.has(layer) and not self.only_reads

    def capacity(self, role: Role) -> Capacity:
        """What a worker can hold."""
        bound = self.bound
        pages = bound.prefill_pages if role is Role.PREFILL else bound.decode_pages
        return Capacity(
            pool_tokens=pages * bound.page_size, context_tokens=bound.context_tokens, page_size=bound.page_size
        )

    def new_worker(self, role: Role) -> Kept[Worker]:
        """A worker whose pool was never written."""
        return WORKERS_KEPT.keep(
            new_worker(role, self.capacity(role), self.rules, self.wire, layout="verify", reuse=self.reuse)
        )

    def blank_pages(self, role: Role) -> tuple[Page, ...]:
        """The pages of a new worker."""
        return (blank(self.bound.page_size),) * self.capacity(role).pool_pages

    def asked(self, client: Client) -> on.ClientAsked:
        """What the client sends."""
        shape = client.shape
        whole_pages = (shape.prompt_tokens - 1) // self.bound.page_size if shape.story is not None else 0
        return on.ClientAsked(
            room=RoomId(client.room),
            tenant=TenantId(TENANT_NAMES[client.tenant]),
            prompt_tokens=shape.prompt_tokens,
            max_new_tokens=shape.new_tokens,
            prefix_keys=tuple(PrefixKey(bytes((shape.story or 0, page))) for page in range(whole_pages)),
        )


def first_world(setting: Setting, *, stale_limit: bool = False) -> World:
    """Before anybody has asked. With `stale_limit` the router advertises what engines without I7 advertise."""
    path = [setting.capacity(role) for role in WORKERS]
    limit = setting.bound.context_tokens if stale_limit else advertised_tokens(path, setting.rules)
    return World(
        router=ROUTERS.keep(Router(advertised_tokens=limit, rules=setting.rules)),
        prefill=setting.new_worker(Role.PREFILL),
        decode=setting.new_worker(Role.DECODE),
        prefill_pages=setting.blank_pages(Role.PREFILL),
        decode_pages=setting.blank_pages(Role.DECODE),
        mail=(),
        work=(),
        clients=(),
        tenants_met=0,
        left=setting.bound.budget,
    )
