"""The prefill side of a room: admit or refuse, compute, attest, hand over, give back.

Unknown    RequestOffered       Offered, or Over with a refusal (I1)
Unknown    ReservationReceived  Announced: decode was faster than the router
Offered    ReservationReceived  Computing, or Queued until its turn
Computing  PromptComputed       Attesting (digests), then Sending (push) or Held (pull)
Sending    WritesLanded         Over; the manifest is sent only now
Sending    AbortReceived        Draining, until WritesLanded; then decode is told that all is quiet (I3)
Held       ReadEnded            Over; or LeaseExpired, whoever may still be reading (I4 is the reader's)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kvfence.core import events as on
from kvfence.core.actions import (
    Action,
    ComputePrompt,
    CountCheck,
    DigestPages,
    NoteRefusal,
    Send,
    StartLeaseTimer,
    StopWork,
    WritePages,
)
from kvfence.core.admission import Admitted, Condemned, Rejected, Wait, admit
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
from kvfence.core.ids import Digest, PageId, Role
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import Leases, Move
from kvfence.core.leasing import available_pages, evict, held_by, lease_clean, remember_prefix, share_prefix
from kvfence.core.manifest import Manifest
from kvfence.core.pool import move
from kvfence.core.rules import Layer, OverLong, Wire
from kvfence.core.sizes import pages_ceiling, pages_floor


@dataclass(frozen=True, slots=True)
class Announced:
    """Decode is ready; the router's offer has not come yet."""

    target: Leases


@dataclass(frozen=True, slots=True)
class Offered:
    """The request passed the door; nothing is held before decode has reserved."""

    ask: on.RequestOffered


@dataclass(frozen=True, slots=True)
class Ready:
    """Offered and reserved: what a queued room waits with."""

    ask: on.RequestOffered
    target: Leases


@dataclass(frozen=True, slots=True)
class Computing:
    """Pages are leased and being filled by this worker."""

    ready: Ready
    admitted: Admitted | Condemned
    pages: tuple[PageId, ...]
    shared: int
    """How many of `pages`, from the first, are this tenant's from before."""

    @property
    def tokens(self) -> int:
        """How many slots are computed: the plan, not the request."""
        return (self.admitted.placeholder if isinstance(self.admitted, Condemned) else self.admitted).tokens


@dataclass(frozen=True, slots=True)
class Attesting:
    """All is computed; the pages are being digested."""

    computed: Computing


@dataclass(frozen=True, slots=True)
class Sending:
    """Writes are posted; they may land at any time until `WritesLanded`."""

    computed: Computing
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Held:
    """Pull wire: the pages are kept for decode to read, for as long as the lease lasts."""

    computed: Computing


@dataclass(frozen=True, slots=True)
class Draining:
    """Decode gave up while writes were posted; it is told when they have landed."""

    computed: Computing


def step(worker: Worker, event: on.Event) -> tuple[Worker, tuple[Action, ...]]:
    """One event at a prefill worker. Raises `Violation` for what the table does not have."""
    return step_worker(TABLE, worker, event)


def _offered(worker: Worker, state: Unknown | Announced, event: on.RequestOffered) -> Outcome:
    """I1: whether it can ever fit is decided here, before anything is held, and all are told."""
    decision = admit(
        event.prompt_tokens, worker.capacity, worker.capacity.pool_pages, gate=Role.PREFILL, rules=worker.rules
    )
    if isinstance(decision, Rejected):
        refused = on.RequestRefused(room=event.room, refusal=decision)
        note = NoteRefusal(room=event.room, prompt_tokens=event.prompt_tokens, refusal=decision)
        return Outcome(worker, Over(), (note, Send(to=Role.ROUTER, event=refused), Send(to=Role.DECODE, event=refused)))
    if isinstance(state, Announced):
        return _begin_or_queue(worker, Ready(event, state.target))
    return Outcome(worker, Offered(event))


def _announced(worker: Worker, _state: Unknown, event: on.ReservationReceived) -> Outcome:
    return Outcome(worker, Announced(event.leases))


def _reserved(worker: Worker, state: Offered, event: on.ReservationReceived) -> Outcome:
    return _begin_or_queue(worker, Ready(state.ask, event.leases))


def _turn(worker: Worker, state: Queued, _event: TurnCame) -> Outcome:
    return _begin(worker, state.ask)


def _begin_or_queue(worker: Worker, ready: Ready) -> Outcome:
    """The reservation must be as long as the prompt (I2), if that is checked; then lease and compute, or wait."""
    pages_asked = pages_ceiling(ready.ask.prompt_tokens, worker.capacity.page_size)
    if worker.rules.has(Layer.COUNT) and len(ready.target) != pages_asked:
        return _fault(worker, ready, Check.COUNT, f"decode reserved {len(ready.target)} pages, not {pages_asked}")
    return Outcome(worker, Queued(ready)) if first_queued(worker) is not None else _begin(worker, ready)


def _begin(worker: Worker, ready: Ready) -> Outcome:
    ask = ready.ask
    fits = ask.prompt_tokens <= worker.capacity.usable_tokens  # else a placeholder runs, which shares nothing
    whole_pages = pages_floor(ask.prompt_tokens, worker.capacity.page_size) if fits else 0
    sharing, shared = share_prefix(worker, ask.prefix_keys[:whole_pages], ask.room, ask.tenant)
    free = available_pages(sharing) + len(shared)
    decision = admit(ask.prompt_tokens, worker.capacity, free, gate=Role.PREFILL, rules=worker.rules)
    match decision:
        case Wait():
            return Outcome(worker, Queued(ready))
        case Rejected():
            raise Violation(Check.ADMISSION, f"{ask.prompt_tokens} tokens were let in at the door")
        case Condemned(placeholder=placeholder, refusal=refusal):
            note = NoteRefusal(room=ask.room, prompt_tokens=ask.prompt_tokens, refusal=refusal)
            outcome = _compute(worker, ready, decision, placeholder, ())
            return replace(outcome, actions=(note, *outcome.actions))
        case Admitted():
            return _compute(sharing, ready, decision, decision, shared)


def _compute(
    worker: Worker, ready: Ready, decision: Admitted | Condemned, plan: Admitted, shared: tuple[PageId, ...]
) -> Outcome:
    ask, own_pages = ready.ask, plan.pages - len(shared)
    worker = evict(worker, own_pages)
    full = pages_floor(plan.tokens, worker.capacity.page_size) - len(shared)
    worker, own, actions = lease_clean(worker, plan, ask.room, ask.tenant, own_pages, overwritten=full)
    worker = replace(worker, pool=move(worker.pool, own, Move.FILL))
    computing = Computing(ready, decision, shared + own.pages, len(shared))
    first_slot = len(shared) * worker.capacity.page_size
    compute = ComputePrompt(room=ask.room, pages=computing.pages, first_slot=first_slot, tokens=plan.tokens)
    return Outcome(worker, computing, (*actions, compute))


def _computed(worker: Worker, state: Computing, event: on.PromptComputed) -> Outcome:
    """Seal what this worker computed itself, and let the tenant reuse its full pages."""
    ask = state.ready.ask
    own = held_by(worker, state.pages[state.shared :], ask.room, ask.tenant)
    worker = replace(worker, pool=move(worker.pool, own, Move.SEAL))
    if isinstance(state.admitted, Condemned) and worker.rules.over_long is OverLong.RETIRE_AFTER_FORWARD:
        return _retired(worker, state, state.admitted.refusal)
    full = pages_floor(state.tokens, worker.capacity.page_size)
    worker = remember_prefix(worker, ask.prefix_keys[:full], state.pages[:full], ask.tenant)
    if worker.rules.has(Layer.DIGEST):
        return Outcome(worker, Attesting(state), (DigestPages(room=event.room, pages=state.pages),))
    return _hand_over(worker, state, None)


def _retired(worker: Worker, state: Computing, refusal: Rejected) -> Outcome:
    """SGLang 0.5.20: the verdict is seen after the forward. The client hears of it; decode does not."""
    refused = on.RequestRefused(room=state.ready.ask.room, refusal=refusal)
    return Outcome(_release(worker, state), Over(), (Send(to=Role.ROUTER, event=refused),))


def _digested(worker: Worker, state: Attesting, event: on.PagesDigested) -> Outcome:
    return _hand_over(worker, state.computed, event.digests)


def _hand_over(worker: Worker, computed: Computing, digests: tuple[Digest, ...] | None) -> Outcome:
    """Push: pages are paired with decode's by position, and the manifest waits. Pull: the manifest goes first.

    Where decode reserved fewer pages than were computed (which I2 refuses above), engines send what fits.
    """
    ask, target, size = computed.ready.ask, computed.ready.target, worker.capacity.page_size
    pages = computed.pages[: len(target)]
    pulled = worker.wire is Wire.PULL
    manifest = Manifest(
        leases=held_by(worker, pages, ask.room, ask.tenant) if pulled else target.first(len(pages)),
        tokens=min(computed.tokens, len(pages) * size),
        page_size=size,
        layout=worker.layout,
        digests=None if digests is None else digests[: len(pages)],
        cached_tokens=computed.shared * size,
    )
    if pulled:
        sent = Send(to=Role.DECODE, event=on.ManifestReceived(room=ask.room, manifest=manifest))
        return Outcome(worker, Held(computed), (StartLeaseTimer(room=ask.room), sent))
    post = WritePages(room=ask.room, source=pages, target=manifest.leases)
    return Outcome(worker, Sending(computed, manifest), (post,))


def _landed(worker: Worker, state: Sending, event: on.WritesLanded) -> Outcome:
    done = Send(to=Role.DECODE, event=on.ManifestReceived(room=event.room, manifest=state.manifest))
    return Outcome(_release(worker, state.computed), Over(), (done,))


def _abort_unheld(worker: Worker, _state: object, event: on.AbortReceived) -> Outcome:
    """Nothing was posted, or all of it has landed: quiet."""
    return Outcome(worker, Over(), (_quiet(event),))


def _abort_held(worker: Worker, state: Computing | Attesting | Held, event: on.AbortReceived) -> Outcome:
    return replace(_given_up(worker, state, event), actions=(StopWork(room=event.room), _quiet(event)))


def _abort_sending(worker: Worker, state: Sending, event: on.AbortReceived) -> Outcome:
    """Writes that are not posted yet need not be; those that are will land, and decode is told only then."""
    return Outcome(worker, Draining(state.computed), (StopWork(room=event.room),))


def _drained(worker: Worker, state: Draining, event: on.WritesLanded) -> Outcome:
    return Outcome(_release(worker, state.computed), Over(), (_quiet(event),))


def _quiet(event: on.Event) -> Send:
    return Send(to=Role.DECODE, event=on.PeerQuiet(room=event.room))


def _given_up(worker: Worker, state: Computing | Attesting | Held, event: on.Event) -> Outcome:
    computed = state if isinstance(state, Computing) else state.computed
    return Outcome(_release(worker, computed), Over(), (StopWork(room=event.room),))


def _gone(worker: Worker, _state: object, _event: on.Event) -> Outcome:
    return Outcome(worker, Over())


def _lost_sending(worker: Worker, state: Sending, _event: on.WorkerLost) -> Outcome:
    return Outcome(worker, Draining(state.computed))


def _release(worker: Worker, computed: Computing) -> Worker:
    """Give back shared and own pages alike; the index keeps what it holds."""
    ask = computed.ready.ask
    return replace(worker, pool=move(worker.pool, held_by(worker, computed.pages, ask.room, ask.tenant), Move.RELEASE))


def _fault(worker: Worker, ready: Ready, check: Check, message: str) -> Outcome:
    room = ready.ask.room
    faulted = on.RequestFaulted(room=room, check=check, message=message)
    told = (Send(to=Role.ROUTER, event=faulted), Send(to=Role.DECODE, event=faulted))
    return Outcome(worker, Over(), (CountCheck(room=room, check=check, message=message), *told))


_LATE = (on.PromptComputed, on.PagesDigested, on.WritesLanded, on.ReadEnded, on.LeaseExpired)

TABLE: Table = {
    (Unknown, on.RequestOffered): Row(_offered, (Offered, Over)),
    (Unknown, on.ReservationReceived): Row(_announced, (Announced,)),
    (Unknown, on.AbortReceived): Row(_abort_unheld, (Over,)),
    (Unknown, on.RequestRefused): Row(_gone, (Over,)),
    (Unknown, on.ClientGone): Row(_gone, (Over,)),
    **ignoring(Unknown, *_LATE, on.WorkerLost),
    (Announced, on.RequestOffered): Row(_offered, (Queued, Computing, Over)),
    (Announced, on.AbortReceived): Row(_abort_unheld, (Over,)),
    (Announced, on.ClientGone): Row(_gone, (Over,)),
    (Announced, on.WorkerLost): Row(_gone, (Over,)),
    **ignoring(Announced, *_LATE, on.ReservationReceived, on.RequestRefused),
    (Offered, on.ReservationReceived): Row(_reserved, (Queued, Computing, Over)),
    (Offered, on.AbortReceived): Row(_abort_unheld, (Over,)),
    (Offered, on.RequestRefused): Row(_gone, (Over,)),
    (Offered, on.ClientGone): Row(_gone, (Over,)),
    (Offered, on.WorkerLost): Row(_gone, (Over,)),
    **ignoring(Offered, *_LATE, on.RequestOffered),
    (Queued, TurnCame): Row(_turn, (Queued, Computing)),
    (Queued, on.AbortReceived): Row(_abort_unheld, (Over,)),
    (Queued, on.ClientGone): Row(_gone, (Over,)),
    (Queued, on.WorkerLost): Row(_gone, (Over,)),
    **ignoring(Queued, *_LATE, on.RequestOffered, on.ReservationReceived, on.RequestRefused),
    (Computing, on.PromptComputed): Row(_computed, (Attesting, Sending, Held, Over)),
    (Computing, on.AbortReceived): Row(_abort_held, (Over,)),
    (Computing, on.ClientGone): Row(_given_up, (Over,)),
    (Computing, on.WorkerLost): Row(_given_up, (Over,)),
    **ignoring(Computing, on.PagesDigested, on.WritesLanded, on.ReadEnded, on.LeaseExpired),
    **ignoring(Computing, on.RequestOffered, on.ReservationReceived, on.RequestRefused),
    (Attesting, on.PagesDigested): Row(_digested, (Sending, Held)),
    (Attesting, on.AbortReceived): Row(_abort_held, (Over,)),
    (Attesting, on.ClientGone): Row(_given_up, (Over,)),
    (Attesting, on.WorkerLost): Row(_given_up, (Over,)),
    **ignoring(Attesting, on.PromptComputed, on.WritesLanded, on.ReadEnded, on.LeaseExpired),
    **ignoring(Attesting, on.RequestOffered, on.ReservationReceived, on.RequestRefused),
    (Sending, on.WritesLanded): Row(_landed, (Over,)),
    (Sending, on.AbortReceived): Row(_abort_sending, (Draining,)),
    (Sending, on.WorkerLost): Row(_lost_sending, (Draining,)),
    **ignoring(Sending, on.PromptComputed, on.PagesDigested, on.ReadEnded, on.LeaseExpired, on.ClientGone),
    **ignoring(Sending, on.RequestOffered, on.ReservationReceived, on.RequestRefused),
    (Held, on.ReadEnded): Row(_given_up, (Over,)),
    (Held, on.LeaseExpired): Row(_given_up, (Over,)),
    (Held, on.AbortReceived): Row(_abort_held, (Over,)),
    (Held, on.WorkerLost): Row(_given_up, (Over,)),
    **ignoring(Held, on.PromptComputed, on.PagesDigested, on.WritesLanded, on.ClientGone),
    **ignoring(Held, on.RequestOffered, on.ReservationReceived, on.RequestRefused),
    (Draining, on.WritesLanded): Row(_drained, (Over,)),
    **ignoring(Draining, on.PromptComputed, on.PagesDigested, on.ReadEnded, on.LeaseExpired, on.ClientGone),
    **ignoring(Draining, on.RequestOffered, on.ReservationReceived, on.RequestRefused),
    **ignoring(Draining, on.AbortReceived, on.WorkerLost),
    (Over, on.AbortReceived): Row(_abort_unheld, (Over,)),
    **ignoring(Over, *_LATE, on.RequestOffered, on.ReservationReceived, on.RequestRefused),
    **ignoring(Over, on.ClientGone, on.WorkerLost),
}
