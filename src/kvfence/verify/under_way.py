"""What workers and wires have been asked for, done piece by piece: computing, writes, reads, answers.

Two promises are asked where they can be seen: I3 where a write lands, I4 where a read ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from kvfence.core import decode_side
from kvfence.core import events as on
from kvfence.core.ids import Role, RoomId
from kvfence.core.rules import Layer
from kvfence.verify.kept import Kept
from kvfence.verify.marks import write
from kvfence.verify.move import Happening, Kind, Move
from kvfence.verify.properties import Broken, Property
from kvfence.verify.scene import Scene
from kvfence.verify.world import Answering, Computing, Job, Reading, Setting, World, Write


def pieces(world: World, setting: Setting) -> Iterator[Happening]:
    """The next piece of everything that is under way."""
    for kept in world.work:
        job = kept.value
        match job:
            case Computing():
                move = Move(Kind.COMPUTE, job.room, Role.PREFILL, at=job.next_slot // setting.bound.page_size)
                yield move, partial(_compute, world, setting, kept, job)
            case Write():
                move = Move(Kind.LAND, job.room, Role.PREFILL, at=job.at)
                yield move, partial(_land, world, setting, kept, job)
                if job.stopped:
                    yield move._replace(kind=Kind.NOT_POSTED), partial(_not_posted, world, setting, kept, job)
            case Reading() if job.done < len(job.target) and job.source_lives:
                move = Move(Kind.READ, job.room, Role.DECODE, at=job.done)
                yield move, partial(_read, world, setting, kept, job)
            case Reading():
                yield Move(Kind.END_READ, job.room, Role.DECODE), partial(_end_read, world, setting, kept, job)
            case Answering():
                yield Move(Kind.END_ANSWER, job.room, Role.DECODE), partial(_end_answer, world, setting, kept, job)


def _compute(world: World, setting: Setting, kept: Kept[Job], job: Computing) -> World:
    """One page's slots; with the last one, prefill reports."""
    scene = _without(world, setting, kept)
    size = setting.bound.page_size
    stop = min((job.next_slot // size + 1) * size, job.tokens)
    marks = scene.client(job.room).marks(job.next_slot, stop)
    scene.pages[Role.PREFILL] = write(scene.pages[Role.PREFILL], job.pages, job.next_slot, marks)
    if stop < job.tokens:
        scene.add(replace(job, next_slot=stop))
    else:
        scene.happen(Role.PREFILL, on.PromptComputed(room=job.room))
    return scene.frozen()


def _land(world: World, setting: Setting, kept: Kept[Job], job: Write) -> World:
    """A page that prefill holds now over a page of decode, whosever that is by now."""
    scene = _without(world, setting, kept)
    if job.target is not None:
        epoch_now = scene.workers[Role.DECODE].value.pool.epochs[job.target]
        if setting.asks(Layer.WRITER_FENCE) and epoch_now != job.epoch:
            raise Broken(Property.STALE_WRITER, f"a write of room {job.room} lands in a page that has changed hands")
        scene.put(Role.DECODE, (job.target,), (scene.pages[Role.PREFILL][job.source],))
    return _settled(scene, job.room)


def _not_posted(world: World, setting: Setting, kept: Kept[Job], job: Write) -> World:
    return _settled(_without(world, setting, kept), job.room)


def _settled(scene: Scene, room: RoomId) -> World:
    """With the last write of a room, prefill reports."""
    if not any(isinstance(job.value, Write) and job.value.room == room for job in scene.work):
        scene.happen(Role.PREFILL, on.WritesLanded(room=room))
    return scene.frozen()


def _read(world: World, setting: Setting, kept: Kept[Job], job: Reading) -> World:
    scene = _without(world, setting, kept)
    page = scene.pages[Role.PREFILL][job.source.pages[job.done]]
    scene.put(Role.DECODE, (job.target[job.done],), (page,))
    scene.add(replace(job, done=job.done + 1))
    return scene.frozen()


def _end_read(world: World, setting: Setting, kept: Kept[Job], job: Reading) -> World:
    """The source's epochs as they are now, or none where it is gone."""
    scene = _without(world, setting, kept)
    pool = world.prefill.value.pool
    whole = job.done == len(job.target) and job.source_lives
    epochs = tuple(pool.epochs[page] for page in job.source.pages) if whole else ()
    scene.happen(Role.DECODE, on.PagesPulled(room=job.room, epochs_after=epochs))
    after = scene.workers[Role.DECODE].value.rooms.get(job.room)
    trusted = isinstance(after, decode_side.Verifying | decode_side.Decoding)
    if trusted and setting.asks(Layer.READER_FENCE) and not (whole and pool.holds(job.source)):
        raise Broken(Property.STALE_READER, f"room {job.room} goes on with pages that changed hands as they were read")
    return scene.frozen()


def _end_answer(world: World, setting: Setting, kept: Kept[Job], job: Answering) -> World:
    scene = _without(world, setting, kept)
    shape = scene.client(job.room).shape
    ended = on.AnswerEnded(
        room=job.room,
        reason="length",
        prompt_tokens=shape.prompt_tokens,
        completion_tokens=shape.new_tokens,
        cached_tokens=job.cached_tokens,
    )
    scene.happen(Role.DECODE, ended)
    return scene.frozen()


def _without(world: World, setting: Setting, kept: Kept[Job]) -> Scene:
    scene = Scene(world, setting.wire)
    scene.work.remove(kept)
    return scene
