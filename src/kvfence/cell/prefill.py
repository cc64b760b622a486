"""The prefill worker's driver: computes prompts in chunks, hands pages over. It decides nothing."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kvfence.cell.config import CellConfig
from kvfence.cell.digests import seed_of
from kvfence.cell.driver import Driver, Plumbing
from kvfence.cell.frames import Work
from kvfence.core import events as on
from kvfence.core import prefill_side
from kvfence.core.actions import Action, ComputePrompt, DigestPages, StartLeaseTimer, StopWork, WritePages
from kvfence.core.ids import Digest, PageId, Role, RoomId
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import Leases
from kvfence.core.rules import Layer, Wire

PAGES_A_SLICE = 512
"""Pages that are sent for one room before the worker looks at its mailbox again: about 19 MB at 64 slots a page."""
PAGES_A_MESSAGE = 64
"""Pages in one message of the two-sided wire: about 2.4 MB at 64 slots a page."""


@dataclass(frozen=True, slots=True)
class _Offer:
    tenant: str
    """As the router said it, not as the pool's accounts have it: the oracle must not ask core."""
    prompt: NDArray[np.uint8]


@dataclass(slots=True)
class _Computing:
    pages: tuple[PageId, ...]
    next_slot: int
    tokens: int
    digests: dict[PageId, Digest] = field(default_factory=dict)
    """Of the pages that are computed so far, where the rules ask for digests."""


@dataclass(slots=True)
class _Sending:
    source: tuple[PageId, ...]
    target: Leases
    sent: int = 0
    in_flight: int = 0


class PrefillDriver(Driver):
    """Computes for several rooms in turn, one chunk each."""

    def __init__(self, config: CellConfig, plumbing: Plumbing) -> None:
        super().__init__(Role.PREFILL, prefill_side.step, config, plumbing)
        self._offers: dict[RoomId, _Offer] = {}
        self._computing: OrderedDict[RoomId, _Computing] = OrderedDict()
        self._sending: OrderedDict[RoomId, _Sending] = OrderedDict()
        self._digests: dict[RoomId, dict[PageId, Digest]] = {}

    def keep(self, event: on.Event, payload: bytes) -> None:
        """An offer brings the prompt; landed writes bring nothing, but are counted off."""
        if isinstance(event, on.RequestOffered) and event.room not in self.worker.over:
            prompt = np.frombuffer(Work.offered(event, payload).prompt, dtype=np.uint8)
            self._offers[event.room] = _Offer(event.tenant, prompt)

    def forget(self, room: RoomId) -> None:
        """Drop prompt and jobs."""
        self._offers.pop(room, None)
        self._computing.pop(room, None)
        self._sending.pop(room, None)
        self._digests.pop(room, None)

    def perform(self, action: Action) -> None:
        """Queue long work; it is done in slices, so that an abort is heard between two of them."""
        match action:
            case ComputePrompt():
                self._computing[action.room] = _Computing(action.pages, action.first_slot, action.tokens)
            case WritePages():
                self._sending[action.room] = _Sending(action.source, action.target)
            case StartLeaseTimer():
                self.later(self.config.lease_s, on.LeaseExpired(room=action.room))
            case StopWork():
                self._stop(action.room)
            case _:
                raise Violation(Check.ILLEGAL_EVENT, f"prefill cannot {type(action).__name__}")

    def digest(self, action: DigestPages) -> tuple[Digest, ...]:
        """What was computed here was digested while it was written: whatever touches it later is found by decode."""
        known = self._digests.pop(action.room, {})
        others = [page for page in action.pages if page not in known]
        known |= zip(others, self.store.digest(others, seed_of(action.room)), strict=True)
        return tuple(known[page] for page in action.pages)

    def work(self) -> bool:
        """One slice of sending and one chunk of computing."""
        sent = self._send_slice()
        return self._compute_chunk() or sent

    def _look_at_wire(self) -> bool:
        landed = self.wire.landed()
        for room in landed:
            sending = self._sending.get(room)
            if sending is not None:
                sending.in_flight -= 1
                self._settle(room, sending)
        return bool(landed)

    def _compute_chunk(self) -> bool:
        if not self._computing:
            return False
        room, job = self._computing.popitem(last=False)
        stop = min(job.next_slot + self.config.chunk_tokens, job.tokens)
        offer = self._offers[room]
        seed = seed_of(room) if self.config.rules.has(Layer.DIGEST) else None
        job.digests |= self.store.encode(offer.prompt, job.next_slot, stop, job.pages, offer.tenant, digest_seed=seed)
        self.count("tokens_prefilled_total", max(stop - job.next_slot, 0))
        job.next_slot = stop
        if stop < job.tokens:
            self._computing[room] = job  # to the end: the others get their chunk first
        else:
            self._digests[room] = job.digests
            self.happen(on.PromptComputed(room=room))
        return True

    def _send_slice(self) -> bool:
        unsent = next(((room, job) for room, job in self._sending.items() if job.sent < len(job.source)), None)
        if unsent is None:
            return False
        room, job = unsent
        until = min(job.sent + PAGES_A_SLICE, len(job.source))
        if self.config.wire is Wire.TWO_SIDED:
            self._offer_pages(room, job, until)
        elif not self.wire.write(room, job.source[job.sent : until], _between(job.target, job.sent, until)):
            job.in_flight += 1
        self.count("pages_sent_total", until - job.sent)
        job.sent = until
        self._sending.move_to_end(room)
        self._settle(room, job)
        return True

    def _offer_pages(self, room: RoomId, job: _Sending, until: int) -> None:
        for start in range(job.sent, until, PAGES_A_MESSAGE):
            end = min(start + PAGES_A_MESSAGE, until)
            offered = on.PagesOffered(room=room, leases=_between(job.target, start, end))
            self.send(Role.DECODE, offered, self.store.read_pages(job.source[start:end]))

    def _settle(self, room: RoomId, job: _Sending) -> None:
        if job.sent == len(job.source) and not job.in_flight:
            self.happen(on.WritesLanded(room=room))

    def _stop(self, room: RoomId) -> None:
        """No further chunk is computed and no further write posted; those in flight still land."""
        self._computing.pop(room, None)
        job = self._sending.get(room)
        if job is not None:
            job.source = job.source[: job.sent]
            self._settle(room, job)


def _between(leases: Leases, start: int, end: int) -> Leases:
    return leases.after(start).first(end - start)
