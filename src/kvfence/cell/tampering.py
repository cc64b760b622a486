"""Faults of one handoff, made by hand in the running cell: what comes to decode is not what prefill has computed.

Each attempt stages B's handoff up to where decode has reserved, prefill has computed and digested, and nothing has been
sent; then something goes wrong, and the rest runs as it does. Before B came A, whose text lies in the pages of both.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kvfence.cell.ablation import FITS, PAGE, Tried, ask_of, judge, new_cell, two_documents
from kvfence.cell.digests import seed_of
from kvfence.cell.documents import QUESTION, Document
from kvfence.cell.frames import Frame
from kvfence.cell.models.induction import KEY_FLOATS, ROW_FLOATS
from kvfence.cell.stepped import SteppedCell
from kvfence.core import events as on
from kvfence.core.decode_side import Reserved
from kvfence.core.ids import PageId, Role, RoomId
from kvfence.core.manifest import Manifest
from kvfence.core.prefill_side import Sending
from kvfence.core.rules import Rules, Wire
from kvfence.errors import UnsupportedError

_VISIBLE_BIT = 1 << 30
"""The highest bit of a number's exponent: a flipped sign shows nothing, since the model's code words forgive it."""


@dataclass(frozen=True, slots=True)
class Staged:
    """B's handoff, stopped where everything is ready to be sent."""

    cell: SteppedCell
    room: RoomId
    victim: Document
    asker: Document
    source: tuple[PageId, ...]
    """B's pages at prefill."""
    target: tuple[PageId, ...]
    """B's pages at decode, in the same order."""
    manifest: Manifest
    earlier: Manifest
    """A's."""
    before: bytes
    """What lay in `source` before B's prompt was computed: A's prompt."""
    spot: tuple[int, int]
    """Page, by its place in `target`, and slot of the first token that B's answer copies."""

    def sent(self) -> None:
        """The pages land, and the manifest waits in decode's mailbox."""
        self.cell.let_go()
        while self.cell.turn(Role.PREFILL):
            pass

    def say(self, manifest: Manifest) -> None:
        """This manifest, and no other, comes to decode for B's room."""
        self.cell.mail(Role.DECODE)
        self.cell.post(Role.DECODE, Frame.of(on.ManifestReceived(room=self.room, manifest=manifest)))

    def read(self, role: Role, page: PageId) -> bytes:
        """A page as it is now, with the oracle's shadow of it."""
        return self.cell.stores[role].read_pages((page,))

    def put(self, page: PageId, data: bytes) -> None:
        """Overwrite a page of decode."""
        self.cell.stores[Role.DECODE].write_pages((page,), data)

    def end(self, timing: str) -> Tried:
        """The rest runs; what has come of it?"""
        self.cell.settle()
        return judge(self.cell, self.room, timing, self.victim, self.asker)


def lost_page(staged: Staged) -> None:
    """One page never lands, and the wire says that it has."""
    place, _ = staged.spot
    kept = staged.read(Role.DECODE, staged.target[place])
    staged.sent()
    staged.put(staged.target[place], kept)


def swapped_pages(staged: Staged) -> None:
    """Two pages of the prompt land in each other's places."""
    staged.sent()
    one, other = staged.target[staged.spot[0]], staged.target[-2]
    first, second = staged.read(Role.DECODE, one), staged.read(Role.DECODE, other)
    staged.put(one, second)
    staged.put(other, first)


def page_of_another_room(staged: Staged) -> None:
    """A page of A's, which decode still has, lands where B's belongs."""
    foreign = staged.before
    staged.sent()
    staged.put(staged.target[staged.spot[0]], _page_of(foreign, staged.spot[0], len(staged.source)))


def stale_page(staged: Staged) -> None:
    """Every page is sent as it was before B's prompt was computed."""
    staged.sent()
    for place, page in enumerate(staged.target):
        staged.put(page, _page_of(staged.before, place, len(staged.source)))


def flipped_bit(staged: Staged) -> None:
    """One bit of one number changes on the way."""
    staged.sent()
    _flip(staged)


def flipped_bit_later(staged: Staged) -> None:
    """The same in decode's memory, after the room was sealed and before the first token."""
    staged.sent()
    parcels = staged.cell.mail(Role.DECODE)
    driver = staged.cell.drivers[Role.DECODE]
    for parcel in parcels:
        if isinstance(parcel, Frame):
            driver.happen(parcel.event(), parcel.payload)
    _flip(staged)


def short_manifest(staged: Staged) -> None:
    """Prefill sends the first page alone and attests to no more: the incident's shape, without the over-long prompt."""
    kept = [staged.read(Role.DECODE, page) for page in staged.target]
    staged.sent()
    for page, data in zip(staged.target[1:], kept[1:], strict=True):
        staged.put(page, data)
    manifest, first = staged.manifest, staged.manifest.leases.first(1)
    digests = None if manifest.digests is None else manifest.digests[:1]
    staged.say(replace(manifest, leases=first, tokens=PAGE, digests=digests))


def replayed_manifest(staged: Staged) -> None:
    """A's manifest comes once more, for B's room, before anything of B's has been sent."""
    staged.say(staged.earlier)


def early_done(staged: Staged) -> None:
    """The manifest comes twice, and the first time before its pages have landed."""
    staged.say(staged.manifest)
    staged.cell.turn(Role.DECODE)
    staged.sent()


def wrong_layout(staged: Staged) -> None:
    """Prefill writes rows the other way round: its bytes arrive as they are and mean something else."""
    staged.sent()
    row = np.arange(ROW_FLOATS)[::-1]
    shadow = len(staged.read(Role.DECODE, staged.target[0])) - PAGE * ROW_FLOATS * 4
    for page in staged.target:
        data = staged.read(Role.DECODE, page)
        rows = np.frombuffer(data, np.float32, PAGE * ROW_FLOATS).reshape(PAGE, ROW_FLOATS)
        staged.put(page, rows[:, row].tobytes() + data[len(data) - shadow :])
    staged.say(replace(attested(staged, staged.manifest), layout="rows reversed"))


def attested(staged: Staged, manifest: Manifest) -> Manifest:
    """This manifest with digests of what is in decode's pages now, where there are digests at all."""
    if manifest.digests is None:
        return manifest
    pages = staged.target[: len(manifest.leases)]
    return replace(manifest, digests=staged.cell.stores[Role.DECODE].digest(pages, seed_of(staged.room)))


def colliding(fault: Callable[[Staged], None]) -> Callable[[Staged], None]:
    """The fault, and by accident the pages have the digests that prefill attested."""

    def both(staged: Staged) -> None:
        fault(staged)
        frames = [parcel for parcel in staged.cell.mail(Role.DECODE) if isinstance(parcel, Frame)]
        for event in (frame.event() for frame in frames):
            if isinstance(event, on.ManifestReceived):
                staged.say(attested(staged, event.manifest))

    return both


def tampered(fault: Callable[[Staged], None]) -> Callable[[Rules, str, random.Random], Tried]:
    """The fault as an attempt of the matrix, on a pushing wire."""

    def attempt(rules: Rules, timing: str, rng: random.Random) -> Tried:
        staged = _staged(rules, rng)
        fault(staged)
        return staged.end(timing)

    return attempt


def _staged(rules: Rules, rng: random.Random) -> Staged:
    cell = new_cell(rules, Wire.PUSH)
    victim, asker = two_documents(rng, FITS, FITS)
    first = cell.ask(ask_of("A", victim), held=True)
    cell.settle()
    earlier = _sending(cell, first).manifest
    cell.let_go()
    cell.settle()
    before = cell.stores[Role.PREFILL].read_pages(range(cell.stores[Role.PREFILL].page_count))
    room = cell.ask(ask_of("B", asker), held=True)
    cell.settle()
    sending, reserved = _sending(cell, room), cell.drivers[Role.DECODE].worker.rooms[room]
    if not isinstance(reserved, Reserved):
        raise UnsupportedError("B's pages are not reserved where the fault is to happen")
    total = cell.stores[Role.PREFILL].page_count
    source = sending.computed.pages
    copied = asker.text.index(QUESTION) + len(QUESTION)
    return Staged(
        cell=cell,
        room=room,
        victim=victim,
        asker=asker,
        source=source,
        target=reserved.prompt.pages,
        manifest=sending.manifest,
        earlier=earlier,
        before=b"".join(_parts(before, page, total)[0] for page in source)
        + b"".join(_parts(before, page, total)[1] for page in source),
        spot=divmod(copied, PAGE),
    )


def _sending(cell: SteppedCell, room: RoomId) -> Sending:
    state = cell.drivers[Role.PREFILL].worker.rooms[room]
    if not isinstance(state, Sending):
        raise UnsupportedError(f"room {room} is not being sent where the fault is to happen")
    return state


def _parts(pages: bytes, at: int, count: int) -> tuple[bytes, bytes]:
    """Page `at` of so many as `read_pages` gives them: its rows, and its shadow."""
    rows = PAGE * ROW_FLOATS * 4
    shadow = (len(pages) - count * rows) // count
    behind = count * rows + at * shadow
    return pages[at * rows : (at + 1) * rows], pages[behind : behind + shadow]


def _page_of(pages: bytes, at: int, count: int) -> bytes:
    return b"".join(_parts(pages, at, count))


def _flip(staged: Staged) -> None:
    place, slot = staged.spot
    page = staged.target[place]
    data = bytearray(staged.read(Role.DECODE, page))
    words = np.frombuffer(data, np.uint32)
    words[slot * ROW_FLOATS + KEY_FLOATS] ^= _VISIBLE_BIT
    staged.put(page, bytes(data))
