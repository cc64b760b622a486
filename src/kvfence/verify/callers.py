"""Callers who bring decode a reference themselves: one that was made for another request, or one that they made up.

They know all that can be known from outside: which pages prefill has, under which epochs, where decode has reserved.
They do not know what is in the pages. Each attempt is spent as a message that comes twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kvfence.core import events as on
from kvfence.core.decode_side import Reserved
from kvfence.core.handoff import Worker
from kvfence.core.ids import Digest, PageId, Role, RoomId
from kvfence.core.lease import Leases
from kvfence.core.manifest import Manifest
from kvfence.core.rules import Reference, Wire
from kvfence.verify.bound import spent
from kvfence.verify.move import Happening, Kind, Move
from kvfence.verify.scene import Scene
from kvfence.verify.world import Setting, World

_NOT_KNOWN = Digest(bytes(16))


def references(world: World, setting: Setting) -> Iterator[Happening]:
    """Whatever callers may bring for a room that decode has reserved pages for, and waits."""
    if not world.left.duplicates or setting.rules.reference is Reference.FROM_PREFILL:
        return
    for room, state in world.decode.value.rooms.items():
        if isinstance(state, Reserved):
            for move, manifest in _brought(world, setting, room, state):
                yield move, partial(_bring, world, setting, on.ManifestReceived(room=room, manifest=manifest))


def may_be_missed(world: World, setting: Setting) -> bool:
    """Whether somebody may wait for what came to nothing because of a caller."""
    brought = setting.bound.budget.duplicates - world.left.duplicates
    return brought > 0 and setting.rules.reference is not Reference.FROM_PREFILL


def made_up(state: Reserved, prefill: Worker) -> list[Manifest]:
    """Every reference that a caller writes for this room: so many pages of prefill in a row, or only the first."""
    count, size = len(state.prompt), prefill.capacity.page_size
    whole = min(state.ask.prompt_tokens, count * size)
    if prefill.wire is not Wire.PULL:
        return [_manifest(state.prompt, whole, prefill)]
    rows = (range(start, start + count) for start in range(len(prefill.pool.states) - count + 1))
    found = [_manifest(_leases(row, state, prefill), whole, prefill) for row in rows]
    if count > 1:
        found.append(_manifest(_leases(range(1), state, prefill), size, prefill))
    return found


def _brought(world: World, setting: Setting, room: RoomId, state: Reserved) -> Iterator[tuple[Move, Manifest]]:
    if setting.rules.reference is Reference.MADE_UP:
        for at, manifest in enumerate(made_up(state, world.prefill.value)):
            yield Move(Kind.FORGE, room, Role.DECODE, at=at), manifest
        return
    for letter in world.mail:
        event = letter.value.event.value
        if isinstance(event, on.ManifestReceived) and event.room != room:
            yield Move(Kind.PRESENT, room, Role.DECODE, at=event.room), event.manifest


def _leases(row: range, state: Reserved, prefill: Worker) -> Leases:
    pages = tuple(PageId(page) for page in row)
    return Leases(state.ask.room, state.ask.tenant, pages, tuple(prefill.pool.epochs[page] for page in pages))


def _manifest(leases: Leases, tokens: int, prefill: Worker) -> Manifest:
    digests = (_NOT_KNOWN,) * len(leases)
    size, layout = prefill.capacity.page_size, prefill.layout
    return Manifest(leases=leases, tokens=tokens, page_size=size, layout=layout, digests=digests)


def _bring(world: World, setting: Setting, event: on.ManifestReceived) -> World:
    scene = Scene(world, setting.wire)
    scene.left = spent(scene.left, "duplicates")
    scene.happen(Role.DECODE, event)
    return scene.frozen()
