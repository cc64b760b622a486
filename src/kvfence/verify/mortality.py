"""Workers die with their memory, are missed, and come back with none; and whoever waits for the lost runs out of time.

A connection tells of a death: until a peer has taken notice, what the dead one had sent may still arrive; after it,
nothing of it comes any more. What was on the way to the dead one is gone, with the pages that it was meant for. A
worker that comes back connects anew, so everybody has noticed by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from kvfence.core import decode_side
from kvfence.core import events as on
from kvfence.core.handoff import rooms_needing
from kvfence.core.ids import Role
from kvfence.verify.at_rest import timers
from kvfence.verify.bound import Budget, spent
from kvfence.verify.kept import Kept
from kvfence.verify.move import Happening, Kind, Move
from kvfence.verify.scene import Scene
from kvfence.verify.world import JOBS, WORKERS, Answering, Computing, Job, Notice, Reading, Setting, World, Write


def crashes(world: World, setting: Setting) -> Iterator[Happening]:
    """Any worker that lives may die."""
    if world.left.crashes:
        for role in WORKERS:
            if role not in world.dead:
                yield Move(Kind.CRASH, role=role), partial(_crash, world, setting, role)


def returns(world: World) -> Iterator[Happening]:
    """A dead worker may come back once everybody has missed it."""
    for role in world.dead:
        if all(notice.lost is not role for notice in world.notices):
            yield Move(Kind.COME_BACK, role=role), partial(_come_back, world, role)


def notices(world: World, setting: Setting) -> Iterator[Happening]:
    """Somebody learns of a death."""
    for notice in world.notices:
        move = Move(Kind.NOTICE, role=notice.told, sender=notice.lost)
        yield move, partial(_take_notice, world, setting, notice)


def time_outs(world: World, setting: Setting) -> Iterator[Happening]:
    """Every timer that runs may fire now."""
    for role, event in _timers(world):
        move = Move(Kind.TIME_OUT, event.room, role, event=type(event).__name__)
        yield move, partial(_time_out, world, setting, role, event, left=spent(world.left, "time_outs"))


def lost_patience(world: World, setting: Setting) -> Iterator[Happening]:
    """The same where nothing else can go on, because something was lost: such a time-out is sure to come."""
    for role, event in _timers(world):
        move = Move(Kind.LOSE_PATIENCE, event.room, role, event=type(event).__name__)
        yield move, partial(_time_out, world, setting, role, event, left=world.left)


def ends_of_draining(world: World, setting: Setting) -> Iterator[Happening]:
    """Where rules wait for a writer no longer than for a time, that time is sure to be over at some moment."""
    for room, state in world.decode.value.rooms.items() if setting.rules.drains_in_time else ():
        if isinstance(state, decode_side.Draining):
            event = on.HandoffTimedOut(room=room)
            move = Move(Kind.LOSE_PATIENCE, room, Role.DECODE, event=type(event).__name__)
            yield move, partial(_time_out, world, setting, Role.DECODE, event, left=world.left)


def _timers(world: World) -> Iterator[tuple[Role, on.Event]]:
    for role, room in timers(world):
        kind = on.HandoffTimedOut if role is Role.DECODE else on.LeaseExpired
        yield role, kind(room=room)


def _time_out(world: World, setting: Setting, role: Role, event: on.Event, *, left: Budget) -> World:
    scene = Scene(world._replace(left=left), setting.wire)
    scene.happen(role, event)
    return scene.frozen()


def _outlasting(kept: Kept[Job], dead: Role) -> tuple[Kept[Job], ...]:
    """What becomes of a job: a write then lands nowhere, and a read from the dead only ends."""
    match kept.value:
        case Computing() | Answering():
            return () if kept.value.role is dead else (kept,)
        case Write() as job:
            return () if dead is Role.PREFILL else (JOBS.keep(replace(job, target=None)),)
        case Reading() as job:
            return () if dead is Role.DECODE else (JOBS.keep(replace(job, source_lives=False)),)


def _crash(world: World, setting: Setting, role: Role) -> World:
    scene = Scene(world, setting.wire)
    scene.left = spent(scene.left, "crashes")
    scene.workers[role] = setting.new_worker(role)
    scene.pages[role] = setting.blank_pages(role)
    scene.mail = [letter for letter in scene.mail if letter.value.to is not role]
    scene.work = [job for kept in scene.work for job in _outlasting(kept, role)]
    scene.dead = tuple(sorted((*scene.dead, role)))
    missing = (Notice(told, role) for told in Role if told is not role and told not in scene.dead)
    scene.notices = tuple(sorted((*(one for one in scene.notices if one.told is not role), *missing)))
    return scene.frozen()


def _come_back(world: World, role: Role) -> World:
    return world._replace(dead=tuple(dead for dead in world.dead if dead is not role))


def _take_notice(world: World, setting: Setting, notice: Notice) -> World:
    scene = Scene(world, setting.wire)
    told, lost = notice
    scene.notices = tuple(one for one in scene.notices if one != notice)
    scene.mail = [one for one in scene.mail if not (one.value.sender is lost and one.value.to is told)]
    rooms = tuple(scene.router.value.rooms) if told is Role.ROUTER else rooms_needing(scene.workers[told].value)
    for room in rooms:
        scene.happen(told, on.WorkerLost(room=room, worker=lost))
    return scene.frozen()
