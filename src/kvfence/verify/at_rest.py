"""Liveness, asked where nothing is under way: has every request ended, and has every page come back?

Work that is under way happens in the end, so whatever a world waits for then is waited for in vain. A time-out is no
way on where nothing was lost: whoever needs one there was never told.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.core import decode_side, prefill_side
from kvfence.core.ids import Role, RoomId
from kvfence.core.lease import Free, Quarantined
from kvfence.core.rules import Layer
from kvfence.verify.properties import Broken, Property
from kvfence.verify.world import WORKERS, End, World


def check_at_rest(world: World) -> None:
    """What must hold where nothing is under way and nothing more will happen by itself."""
    for role, room in timers(world):
        raise Broken(Property.TOLD, f"room {room} at {role} waits for a peer that was never told, until a time-out")
    for client in world.clients:
        if client.end is End.WAITING:
            raise Broken(Property.ENDS, f"the client of room {client.room} waits, and nothing is under way")
    for role in WORKERS:
        _pages_are_back(world, role)
    _limit_is_known(world)


def timers(world: World) -> Iterator[tuple[Role, RoomId]]:
    """Rooms for which a time-out is set: decode waits for a manifest, prefill for the end of a read."""
    for room, state in world.decode.value.rooms.items():
        if isinstance(state, decode_side.Reserved):
            yield Role.DECODE, room
    for room, state in world.prefill.value.rooms.items():
        if isinstance(state, prefill_side.Held):
            yield Role.PREFILL, room


def _pages_are_back(world: World, role: Role) -> None:
    worker = world.worker(role)
    kept_for_reuse = set(worker.prefixes.values())
    for page, state in enumerate(worker.pool.states):
        if not isinstance(state, Free | Quarantined) and page not in kept_for_reuse:
            what = f"page {page} of {role} is {type(state).__name__.lower()}, and nothing is under way"
            raise Broken(Property.PAGES_COME_BACK, what)
    for room in worker.rooms:
        raise Broken(Property.PAGES_COME_BACK, f"{role} keeps room {room}, and nothing is under way")


def _limit_is_known(world: World) -> None:
    """Pages that a failed check took away are not promised any more (I7)."""
    decode, router = world.decode.value, world.router.value
    quarantined = decode.pool.counts()["quarantined"]
    held = (decode.capacity.pool_pages - quarantined) * decode.capacity.page_size
    if quarantined and decode.rules.has(Layer.ADMISSION) and router.advertised_tokens > max(held, 0):
        raise Broken(Property.LIMIT, f"{router.advertised_tokens} tokens are promised, and decode can hold {held}")
