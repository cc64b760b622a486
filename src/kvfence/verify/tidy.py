"""One world for all that differ in nothing that can matter any more.

* A letter to a room that is over, which core's table ignores there, is as good as delivered.
* A request that is over everywhere, and that nothing under way names, is forgotten: of what it left in pages only
  whose it was is remembered.
* Where nothing is under way at all, nobody holds an epoch, so counting starts again.

Each of these maps a world to one that can do exactly the same from here on, with the same promises kept or broken.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from kvfence.core import decode_side, prefill_side
from kvfence.core import events as on
from kvfence.core.handoff import Over, Worker, ignored
from kvfence.core.ids import Epoch, Role, RoomId
from kvfence.core.router_side import Router
from kvfence.core.rules import Layer, Reference, Rules
from kvfence.verify.kept import Kept
from kvfence.verify.marks import Page, aged, story_of
from kvfence.verify.world import WORKERS_KEPT, End, Letter, World

_TABLES = {Role.PREFILL: prefill_side.TABLE, Role.DECODE: decode_side.TABLE}


def tidied(world: World) -> World:
    """The world that stands for this one."""
    router, prefill, decode = world.router, world.prefill, world.decode
    mail = tuple([letter for letter in world.mail if not _means_nothing(letter, router, prefill, decode)])
    if len(mail) < len(world.mail):
        world = world._replace(mail=mail)
    if gone := _over_everywhere(world):
        world = _without(world, gone)
    if not (world.clients or world.mail or world.work or world.notices):
        world = world._replace(prefill=_counted_anew(world.prefill), decode=_counted_anew(world.decode))
    return world


@lru_cache(maxsize=1 << 20)
def _means_nothing(letter: Kept[Letter], router: Kept[Router], prefill: Kept[Worker], decode: Kept[Worker]) -> bool:
    to, event = letter.value.to, letter.value.event.value
    if to is Role.ROUTER:
        return event.room not in router.value.rooms and not isinstance(event, on.LimitMeasured)
    worker = (prefill if to is Role.PREFILL else decode).value
    if event.room not in worker.over or _counts_elsewhere(event, worker.rules):
        return False
    if isinstance(event, on.AbortReceived):  # prefill would say that it is quiet, which decode does not wait for
        return event.room in decode.value.over
    if isinstance(event, on.PagesOffered):
        return worker.rules.has(Layer.WRITER_FENCE)
    row = _TABLES[to].get((Over, type(event)))
    return row is not None and row.run is ignored


def _counts_elsewhere(event: on.Event, rules: Rules) -> bool:
    """Whether what is for a room that is over may be taken for another's."""
    acknowledges = isinstance(event, on.AbortReceived | on.PeerQuiet)
    presented = isinstance(event, on.ManifestReceived) and rules.reference is Reference.USED_AGAIN
    return presented or (acknowledges and rules.takes_any_ack)


def _over_everywhere(world: World) -> tuple[RoomId, ...]:
    gone = tuple(RoomId(client.room) for client in world.clients if client.end is not End.WAITING)
    if gone and (gone := _over_at_all(gone, world.router, world.prefill, world.decode)):
        named = {letter.value.event.value.room for letter in world.mail} | {job.value.room for job in world.work}
        return tuple(room for room in gone if room not in named)
    return ()


@lru_cache(maxsize=1 << 20)
def _over_at_all(
    rooms: tuple[RoomId, ...], router: Kept[Router], prefill: Kept[Worker], decode: Kept[Worker]
) -> tuple[RoomId, ...]:
    live = {*router.value.rooms, *prefill.value.rooms, *decode.value.rooms}
    return tuple(room for room in rooms if room not in live)


def _without(world: World, rooms: tuple[RoomId, ...]) -> World:
    return world._replace(
        prefill=_forgotten(world.prefill, rooms),
        decode=_forgotten(world.decode, rooms),
        prefill_pages=_aged(world.prefill_pages, rooms),
        decode_pages=_aged(world.decode_pages, rooms),
        clients=tuple(client for client in world.clients if client.room not in rooms),
    )


@lru_cache(maxsize=1 << 16)
def _forgotten(worker: Kept[Worker], rooms: tuple[RoomId, ...]) -> Kept[Worker]:
    return WORKERS_KEPT.keep(replace(worker.value, over=worker.value.over.without(*rooms)))


@lru_cache(maxsize=1 << 16)
def _counted_anew(worker: Kept[Worker]) -> Kept[Worker]:
    pool = worker.value.pool
    return WORKERS_KEPT.keep(replace(worker.value, pool=replace(pool, epochs=(Epoch(0),) * len(pool.epochs))))


@lru_cache(maxsize=1 << 16)
def _aged(pages: tuple[Page, ...], stories: tuple[int, ...]) -> tuple[Page, ...]:
    return tuple(tuple(aged(mark) if story_of(mark) in stories else mark for mark in page) for page in pages)
