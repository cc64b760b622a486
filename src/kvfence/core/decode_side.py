"""The decode side of a room: reserve, receive, verify, generate, give back.

    Unknown   RequestOffered    Queued, or Reserved at once
    Queued    TurnCame          Reserved
    Reserved  ManifestReceived  Verifying (pull wire: Pulling first)
    Pulling   PagesPulled       Verifying
    Verifying PagesDigested     Decoding, or Over with a fault
    Decoding  AnswerEnded       Over
    Reserved  ClientGone        Draining, until PeerQuiet (I3)

A page table exists only in the action that starts decoding, and only a `Seal` makes one (I2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kvfence.core import events as on
from kvfence.core.actions import (
    Action,
    ApplyWrite,
    CountCheck,
    CountVerified,
    DigestPages,
    DropWrite,
    NoteRefusal,
    PullPages,
    Send,
    StartDecoding,
    StartHandoffTimer,
    StopWork,
)
from kvfence.core.admission import Admitted, Rejected, Wait, admit, fitting
from kvfence.core.handoff import (
    Outcome,
    Over,
    Queued,
    Row,
    Table,
    TurnCame,
    Unknown,
    Worker,
    first_queued,
    ignoring,
    step_worker,
)
from kvfence.core.ids import Digest, Role
from kvfence.core.invariants import Check, Mismatch, Violation
from kvfence.core.lease import Filling, Leases, Move
from kvfence.core.leasing import lease_clean
from kvfence.core.manifest import Expectation, Manifest
from kvfence.core.page_table import page_table, seal
from kvfence.core.pool import move
from kvfence.core.rules import Layer, Wire
from kvfence.core.sizes import pages_ceiling


@dataclass(frozen=True, slots=True)
class Reserved:
    """Pages are reserved, prefill knows where they are; a write may land in the prompt's from now on."""

    ask: on.RequestOffered
    prompt: Leases
    answer: Leases
    """Pages behind the prompt's, for the tokens to come; nobody but this worker writes there."""


@dataclass(frozen=True, slots=True)
class Pulling:
    """Pull wire: this worker's own read of prefill's pages is under way."""

    reserved: Reserved
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Verifying:
    """Everything came, prefill says; the pages are being digested."""

    reserved: Reserved
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Decoding:
    """Sealed; the only state from which text can flow."""

    prompt: Leases
    answer: Leases


@dataclass(frozen=True, slots=True)
class Draining:
    """Given up; its pages wait until nothing can land in them any more (I3)."""

    prompt: Leases


def step(worker: Worker, event: on.Event) -> tuple[Worker, tuple[Action, ...]]:
    """One event at a decode worker. Raises `Violation` for what the table does not have."""
    return step_worker(TABLE, worker, _as_it_is_taken(worker, event))


def _as_it_is_taken(worker: Worker, event: on.Event) -> on.Event:
    """SGLang 0.5.21: an acknowledgement of a room that is over here is taken for the next one's that drains."""
    if not (worker.rules.takes_any_ack and isinstance(event, on.PeerQuiet) and event.room in worker.over):
        return event
    draining = (room for room, state in worker.rooms.items() if isinstance(state, Draining))
    return on.PeerQuiet(room=next(draining, event.room))


def _offered(worker: Worker, _state: Unknown, event: on.RequestOffered) -> Outcome:
    return _reserve(worker, event, free_pages=0 if first_queued(worker) is not None else worker.pool.free_pages)


def _turn(worker: Worker, state: Queued, _event: TurnCame) -> Outcome:
    return _reserve(worker, state.ask, free_pages=worker.pool.free_pages)


def _reserve(worker: Worker, ask: on.RequestOffered, *, free_pages: int) -> Outcome:
    ask = replace(ask, prompt_tokens=fitting(ask.prompt_tokens, ask.max_new_tokens, worker.capacity, worker.rules))
    asked = ask.prompt_tokens + ask.max_new_tokens
    match admit(asked, worker.capacity, free_pages, gate=Role.DECODE, rules=worker.rules):
        case Rejected() as refusal:
            return _refuse(worker, ask, refusal)
        case Wait():
            held_back = _only_with_quarantined(worker, asked)
            return Outcome(worker, Queued(ask)) if held_back is None else _refuse(worker, ask, held_back)
        case Admitted() as admitted:
            worker, leases, actions = lease_clean(worker, admitted, ask.room, ask.tenant, admitted.pages)
            prompt_pages = pages_ceiling(ask.prompt_tokens, worker.capacity.page_size)
            prompt, answer = leases.first(prompt_pages), leases.after(prompt_pages)
            worker = replace(worker, pool=move(worker.pool, prompt, Move.FILL))
            reservation = Send(to=Role.PREFILL, event=on.ReservationReceived(room=ask.room, leases=prompt))
            timer = StartHandoffTimer(room=ask.room)
            return Outcome(worker, Reserved(ask, prompt, answer), (*actions, reservation, timer))
        case _:
            raise Violation(Check.ADMISSION, "decode condemns nothing: it admits, waits or rejects")


def _refuse(worker: Worker, ask: on.RequestOffered, refusal: Rejected) -> Outcome:
    refused = on.RequestRefused(room=ask.room, refusal=refusal)
    note = NoteRefusal(room=ask.room, prompt_tokens=ask.prompt_tokens, refusal=refusal)
    return Outcome(worker, Over(), (note, Send(to=Role.ROUTER, event=refused), Send(to=Role.PREFILL, event=refused)))


def _only_with_quarantined(worker: Worker, asked_tokens: int) -> Rejected | None:
    """Quarantined pages do not come back: whoever waited for them would hold up everybody behind."""
    if pages_ceiling(asked_tokens, worker.capacity.page_size) <= _pages_in_service(worker):
        return None
    return Rejected(asked_tokens=asked_tokens, usable_tokens=_usable_now(worker), gate=Role.DECODE)


def _pages_in_service(worker: Worker) -> int:
    return worker.capacity.pool_pages - worker.pool.counts()["quarantined"]


def _usable_now(worker: Worker) -> int:
    capacity = worker.capacity
    held = _pages_in_service(worker) * capacity.page_size - capacity.reserve_tokens
    return max(min(capacity.context_tokens, held), 0)


def _write_came(worker: Worker, state: object, event: on.PagesOffered) -> Outcome:
    """Two-sided wire (I3): a write is applied only into pages that are filling, for this room, under these epochs.

    Pages that do not exist are nobody's to write, whatever the rules.
    """
    current = (
        isinstance(state, Reserved)
        and worker.pool.holds(event.leases)
        and all(
            isinstance(page := worker.pool.states[target], Filling) and page.room == event.room
            for target in event.leases.pages
        )
    )
    exist = event.leases.exist_among(len(worker.pool.states))
    if current or (exist and not worker.rules.has(Layer.WRITER_FENCE)):
        return Outcome(worker, state, (ApplyWrite(pages=event.leases.pages),))
    return Outcome(worker, state, (DropWrite(room=event.room, check=Check.STALE_WRITER),))


def _manifest_came(worker: Worker, state: Reserved, event: on.ManifestReceived) -> Outcome:
    if worker.wire is Wire.PULL:
        source, target = event.manifest.leases, state.prompt.pages[: len(event.manifest.leases)]
        pull = PullPages(room=event.room, source=source.first(len(target)), target=target)
        return Outcome(worker, Pulling(state, event.manifest), (pull,))
    return _verify(worker, state, event.manifest)


def _pulled(worker: Worker, state: Pulling, event: on.PagesPulled) -> Outcome:
    """I4: whatever was read is discarded when the source changed hands meanwhile."""
    ended = Send(to=Role.PREFILL, event=on.ReadEnded(room=event.room))
    before = state.manifest.leases.epochs[: len(state.reserved.prompt)]
    if worker.rules.has(Layer.READER_FENCE) and event.epochs_after != before:
        kept = sum(a == b for a, b in zip(before, event.epochs_after, strict=False))
        wrong = Mismatch(Check.STALE_READER, f"{len(before)} source pages under their epochs", f"{kept} of them")
        outcome = _fault(worker, state.reserved, wrong)
    else:
        outcome = _verify(worker, state.reserved, state.manifest)
    return replace(outcome, actions=(ended, *outcome.actions))


def _verify(worker: Worker, reserved: Reserved, manifest: Manifest) -> Outcome:
    if worker.rules.has(Layer.DIGEST):
        digest = DigestPages(room=reserved.ask.room, pages=reserved.prompt.pages)
        return Outcome(worker, Verifying(reserved, manifest), (digest,))
    return _seal(worker, reserved, manifest, None)


def _digested(worker: Worker, state: Verifying, event: on.PagesDigested) -> Outcome:
    return _seal(worker, state.reserved, state.manifest, event.digests)


def _seal(worker: Worker, reserved: Reserved, manifest: Manifest, digests: tuple[Digest, ...] | None) -> Outcome:
    expected = Expectation(
        leases=reserved.prompt,
        prompt_tokens=reserved.ask.prompt_tokens,
        layout=worker.layout,
        leases_are_echoed=worker.wire is not Wire.PULL,
    )
    sealed = seal(manifest, expected, digests, worker.rules)
    if isinstance(sealed, Mismatch):
        return _fault(worker, reserved, sealed)
    pool = move(worker.pool, reserved.prompt, Move.SEAL)
    pool = move(pool, reserved.answer, Move.FILL)
    start = StartDecoding(
        room=reserved.ask.room,
        table=page_table(sealed, reserved.answer, pool),
        max_new_tokens=reserved.ask.max_new_tokens,
        cached_tokens=manifest.cached_tokens,
    )
    checks = ",".join(sorted(sealed.checks))
    verified = (CountVerified(room=reserved.ask.room, checks=checks),) if checks else ()
    return Outcome(replace(worker, pool=pool), Decoding(reserved.prompt, reserved.answer), (*verified, start))


def _fault(worker: Worker, reserved: Reserved, wrong: Mismatch) -> Outcome:
    """I8: the request ends with an error that says which check; its pages are held back; no text.

    What is left of the pool is the new limit, and the router hears of it before the client does (I7).
    """
    pool = move(worker.pool, reserved.prompt, Move.QUARANTINE, wrong.check)
    worker = replace(worker, pool=move(pool, reserved.answer, Move.RELEASE))
    room, message = reserved.ask.room, str(wrong)
    counted = CountCheck(room=room, check=wrong.check, message=message)
    limit = on.LimitMeasured(room=room, usable_tokens=_usable_now(worker))
    faulted = on.RequestFaulted(room=room, check=wrong.check, message=message)
    return Outcome(worker, Over(), (counted, Send(to=Role.ROUTER, event=limit), Send(to=Role.ROUTER, event=faulted)))


def _free_reserved(worker: Worker, reserved: Reserved) -> Worker:
    return replace(worker, pool=move(worker.pool, reserved.prompt.followed_by(reserved.answer), Move.RELEASE))


def _not_coming(worker: Worker, state: Reserved | Verifying, _event: on.Event) -> Outcome:
    """Prefill refused, or said that it is done: no write can be in flight, so nothing drains."""
    return Outcome(_free_reserved(worker, state.reserved if isinstance(state, Verifying) else state), Over())


def _not_coming_fault(worker: Worker, state: Reserved | Verifying, event: on.RequestFaulted) -> Outcome:
    outcome = _not_coming(worker, state, event)
    return replace(outcome, actions=(Send(to=Role.ROUTER, event=event),))


def _give_up(worker: Worker, state: Reserved, event: on.Event) -> Outcome:
    """I3: where decode cannot refuse a write, its pages are not handed on before prefill is quiet."""
    abort = Send(to=Role.PREFILL, event=on.AbortReceived(room=event.room))
    if worker.wire is not Wire.PUSH or not worker.rules.drains:
        return Outcome(_free_reserved(worker, state), Over(), (abort,))
    timer = (StartHandoffTimer(room=event.room),) if worker.rules.drains_in_time else ()
    return _drain(worker, state, (abort, *timer))


def _drain(worker: Worker, reserved: Reserved, actions: tuple[Action, ...]) -> Outcome:
    pool = move(worker.pool, reserved.prompt, Move.DRAIN)
    pool = move(pool, reserved.answer, Move.RELEASE)
    return Outcome(replace(worker, pool=pool), Draining(reserved.prompt), actions)


def _timed_out(worker: Worker, state: Reserved, event: on.HandoffTimedOut) -> Outcome:
    outcome = _give_up(worker, state, event)
    return replace(outcome, actions=(*outcome.actions, *_told(event, Check.TIMED_OUT, "nothing came from prefill")))


def _give_up_pull(worker: Worker, state: Pulling, _event: on.Event) -> Outcome:
    """Our own read still writes into these pages; they wait for its end."""
    return _drain(worker, state.reserved, ())


def _quiet(worker: Worker, state: Draining, _event: on.Event) -> Outcome:
    """On a pull wire it is this worker's own read that writes here, and only `PagesPulled` tells that it has ended."""
    return Outcome(worker, state) if worker.wire is Wire.PULL else _drained(worker, state)


def _waited_long_enough(worker: Worker, state: Draining, _event: on.HandoffTimedOut) -> Outcome:
    """No time is long enough under the fence; engines have one."""
    return _drained(worker, state) if worker.rules.drains_in_time else Outcome(worker, state)


def _drained(worker: Worker, state: Draining) -> Outcome:
    return Outcome(replace(worker, pool=move(worker.pool, state.prompt, Move.QUIET)), Over())


def _quiet_after_pull(worker: Worker, state: Draining, event: on.PagesPulled) -> Outcome:
    return replace(_drained(worker, state), actions=(Send(to=Role.PREFILL, event=on.ReadEnded(room=event.room)),))


def _lost(worker: Worker, state: Reserved | Verifying, event: on.WorkerLost) -> Outcome:
    """The connection is gone, and with it every write: that is as good as quiet."""
    return replace(
        _not_coming(worker, state, event), actions=_told(event, Check.WORKER_LOST, f"{event.worker} is gone")
    )


def _lost_unreserved(worker: Worker, _state: Queued, event: on.WorkerLost) -> Outcome:
    return Outcome(worker, Over(), _told(event, Check.WORKER_LOST, f"{event.worker} is gone"))


def _lost_pulling(worker: Worker, state: Pulling, event: on.WorkerLost) -> Outcome:
    return _drain(worker, state.reserved, _told(event, Check.WORKER_LOST, f"{event.worker} is gone"))


def _told(event: on.Event, check: Check, message: str) -> tuple[Action, ...]:
    faulted = on.RequestFaulted(room=event.room, check=check, message=message)
    return CountCheck(room=event.room, check=check, message=message), Send(to=Role.ROUTER, event=faulted)


def _tokens(worker: Worker, state: Decoding, event: on.TokensDecoded) -> Outcome:
    return Outcome(worker, state, (Send(to=Role.ROUTER, event=event),))


def _ended(worker: Worker, state: Decoding, event: on.AnswerEnded) -> Outcome:
    return replace(_released(worker, state, event), actions=(Send(to=Role.ROUTER, event=event),))


def _released(worker: Worker, state: Decoding, event: on.Event) -> Outcome:
    pool = move(worker.pool, state.prompt.followed_by(state.answer), Move.RELEASE)
    return Outcome(replace(worker, pool=pool), Over(), (StopWork(room=event.room),))


def _over(worker: Worker, _state: object, _event: on.Event) -> Outcome:
    return Outcome(worker, Over())


_LATE = (on.ManifestReceived, on.PeerQuiet, on.HandoffTimedOut, on.RequestFaulted, on.PagesDigested, on.PagesPulled)

TABLE: Table = {
    (Unknown, on.RequestOffered): Row(_offered, (Queued, Reserved, Over)),
    (Unknown, on.RequestRefused): Row(_over, (Over,)),
    (Unknown, on.ClientGone): Row(_over, (Over,)),
    (Unknown, on.PagesOffered): Row(_write_came, (Unknown,)),
    **ignoring(Unknown, *_LATE, on.TokensDecoded, on.AnswerEnded, on.WorkerLost),
    (Over, on.PagesOffered): Row(_write_came, (Over,)),
    **ignoring(Over, *_LATE, on.RequestOffered, on.RequestRefused, on.ClientGone),
    **ignoring(Over, on.TokensDecoded, on.AnswerEnded, on.WorkerLost),
    (Queued, TurnCame): Row(_turn, (Queued, Reserved, Over)),
    (Queued, on.RequestRefused): Row(_over, (Over,)),
    (Queued, on.ClientGone): Row(_over, (Over,)),
    (Queued, on.WorkerLost): Row(_lost_unreserved, (Over,)),
    (Queued, on.PagesOffered): Row(_write_came, (Queued,)),
    **ignoring(Queued, *_LATE, on.RequestOffered),
    (Reserved, on.ManifestReceived): Row(_manifest_came, (Pulling, Verifying, Decoding, Over)),
    (Reserved, on.PagesOffered): Row(_write_came, (Reserved,)),
    (Reserved, on.RequestRefused): Row(_not_coming, (Over,)),
    (Reserved, on.RequestFaulted): Row(_not_coming_fault, (Over,)),
    (Reserved, on.ClientGone): Row(_give_up, (Draining, Over)),
    (Reserved, on.HandoffTimedOut): Row(_timed_out, (Draining, Over)),
    (Reserved, on.WorkerLost): Row(_lost, (Over,)),
    **ignoring(Reserved, on.RequestOffered, on.PeerQuiet),
    (Pulling, on.PagesPulled): Row(_pulled, (Verifying, Decoding, Over)),
    (Pulling, on.ClientGone): Row(_give_up_pull, (Draining,)),
    (Pulling, on.WorkerLost): Row(_lost_pulling, (Draining,)),
    (Pulling, on.PagesOffered): Row(_write_came, (Pulling,)),
    **ignoring(Pulling, on.RequestOffered, on.ManifestReceived, on.PeerQuiet, on.HandoffTimedOut),
    **ignoring(Pulling, on.RequestRefused, on.RequestFaulted),
    (Verifying, on.PagesDigested): Row(_digested, (Decoding, Over)),
    (Verifying, on.ClientGone): Row(_not_coming, (Over,)),
    (Verifying, on.WorkerLost): Row(_lost, (Over,)),
    (Verifying, on.PagesOffered): Row(_write_came, (Verifying,)),
    **ignoring(Verifying, on.RequestOffered, on.ManifestReceived, on.PeerQuiet, on.HandoffTimedOut),
    **ignoring(Verifying, on.RequestRefused, on.RequestFaulted, on.PagesPulled),
    (Decoding, on.TokensDecoded): Row(_tokens, (Decoding,)),
    (Decoding, on.AnswerEnded): Row(_ended, (Over,)),
    (Decoding, on.ClientGone): Row(_released, (Over,)),
    (Decoding, on.PagesOffered): Row(_write_came, (Decoding,)),
    **ignoring(Decoding, *_LATE, on.RequestOffered, on.RequestRefused, on.WorkerLost),
    (Draining, on.PeerQuiet): Row(_quiet, (Draining, Over)),
    (Draining, on.ManifestReceived): Row(_quiet, (Draining, Over)),
    (Draining, on.RequestRefused): Row(_quiet, (Draining, Over)),
    (Draining, on.RequestFaulted): Row(_quiet, (Draining, Over)),
    (Draining, on.WorkerLost): Row(_quiet, (Draining, Over)),
    (Draining, on.PagesPulled): Row(_quiet_after_pull, (Over,)),
    (Draining, on.PagesOffered): Row(_write_came, (Draining,)),
    (Draining, on.HandoffTimedOut): Row(_waited_long_enough, (Draining, Over)),
    **ignoring(Draining, on.RequestOffered, on.ClientGone, on.PagesDigested),
}
