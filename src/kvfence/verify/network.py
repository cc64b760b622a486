"""Control messages: each may be the next to arrive, arrive once more, or be lost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kvfence.verify.bound import spent
from kvfence.verify.kept import Kept
from kvfence.verify.move import Happening, Kind, Move
from kvfence.verify.scene import Scene
from kvfence.verify.world import Letter, Setting, World


def deliveries(world: World, setting: Setting) -> Iterator[Happening]:
    """Every letter in flight, in any order."""
    for letter, move in _named(world):
        yield move, partial(_deliver, world, setting, letter)


def mishaps(world: World, setting: Setting) -> Iterator[Happening]:
    """Letters that come and stay in flight, to come once more at any time; letters that never come."""
    if not (world.left.duplicates or world.left.drops):
        return
    for letter, move in _named(world):
        if letter.value.sender is letter.value.to:
            continue  # a connection that cannot be made is noticed once
        if world.left.duplicates:
            yield move._replace(kind=Kind.DUPLICATE), partial(_deliver_a_copy, world, setting, letter)
        if world.left.drops:
            yield move._replace(kind=Kind.DROP), partial(_drop, world, setting, letter)


def _named(world: World) -> Iterator[tuple[Kept[Letter], Move]]:
    """Each different letter with its name. Letters that say the same are one; others with one name are counted."""
    seen: dict[Move, int] = {}
    before = None
    for letter in world.mail:
        if letter is not before:
            value = letter.value
            event = value.event.value
            move = Move(Kind.DELIVER, event.room, value.to, value.sender, type(event).__name__)
            at = seen[move] = seen.get(move, -1) + 1
            yield letter, move._replace(at=at) if at else move
        before = letter


def _deliver(world: World, setting: Setting, letter: Kept[Letter]) -> World:
    scene = Scene(world, setting.wire)
    scene.mail.remove(letter)
    scene.happen(letter.value.to, letter.value.event, letter.value.pages)
    return scene.frozen()


def _deliver_a_copy(world: World, setting: Setting, letter: Kept[Letter]) -> World:
    scene = Scene(world, setting.wire)
    scene.left = spent(scene.left, "duplicates")
    scene.happen(letter.value.to, letter.value.event, letter.value.pages)
    return scene.frozen()


def _drop(world: World, setting: Setting, letter: Kept[Letter]) -> World:
    scene = Scene(world, setting.wire)
    scene.left = spent(scene.left, "drops")
    scene.mail.remove(letter)
    return scene.frozen()
