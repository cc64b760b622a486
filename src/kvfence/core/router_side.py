"""The router's part of a room: the first gate, and the one who tells the client and everybody else.

Unknown   ClientAsked      Open (both workers are told), or Over with a refusal that names both figures (I7)
Open      TokensDecoded    Open; the tokens go to the client
Open      AnswerEnded      Over
Open      RequestRefused, RequestFaulted, ClientGone, WorkerLost    Over; whoever does not know yet is told
any       LimitMeasured    as it was; every later request is held against less (I7)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kvfence.core import events as on
from kvfence.core.actions import Action, AnswerClient, Send
from kvfence.core.admission import Rejected
from kvfence.core.frozen_map import FrozenMap
from kvfence.core.handoff import Over, Unknown
from kvfence.core.ids import Role, RoomId
from kvfence.core.invariants import Check, Violation
from kvfence.core.rules import Layer, Rules

_BOTH = (Role.PREFILL, Role.DECODE)


@dataclass(frozen=True, slots=True)
class Open:
    """Both workers were told; the answer, a refusal or a fault will come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """The router's side of all rooms. A room that ended is unknown again: its number is never used twice."""

    advertised_tokens: int
    """What is promised now: what was measured at the start, or less where a worker has lost pages since (I7)."""
    rules: Rules
    rooms: FrozenMap[RoomId, Open] = field(default_factory=FrozenMap)


Answered = tuple[Router, Open | Over | Unknown, tuple[Action, ...]]
"""The router (its rooms untouched), the room's next state, what to do."""


def step(router: Router, event: on.Event) -> tuple[Router, tuple[Action, ...]]:
    """One event at the router. Raises `Violation` for what the table does not have."""
    state = router.rooms.get(event.room, Unknown())
    row = TABLE.get((type(state), type(event)))
    if row is None:
        raise Violation(Check.ILLEGAL_EVENT, f"{type(event).__name__} in {type(state).__name__} at router")
    router, after, actions = row(router, event)
    rooms = router.rooms
    if isinstance(after, Open) and event.room not in rooms:
        rooms = rooms.with_(event.room, after)
    elif not isinstance(after, Open) and event.room in rooms:
        rooms = rooms.without(event.room)
    return replace(router, rooms=rooms), actions


def _asked(router: Router, event: on.Event) -> Answered:
    if not isinstance(event, on.ClientAsked):
        raise Violation(Check.ILLEGAL_EVENT, "only ClientAsked opens a room")
    asked = event.prompt_tokens + event.max_new_tokens
    if asked > router.advertised_tokens:
        refusal = Rejected(asked_tokens=asked, usable_tokens=router.advertised_tokens, gate=Role.ROUTER)
        return router, Over(), (AnswerClient(event=on.RequestRefused(room=event.room, refusal=refusal)),)
    offer = on.RequestOffered(
        room=event.room,
        tenant=event.tenant,
        prompt_tokens=event.prompt_tokens,
        max_new_tokens=event.max_new_tokens,
        prefix_keys=event.prefix_keys,
    )
    return router, Open(), tuple(Send(to=role, event=offer) for role in _BOTH)


def _passed_on(router: Router, event: on.Event) -> Answered:
    return router, Open(), (AnswerClient(event=event),)


def _answered(router: Router, event: on.Event) -> Answered:
    return router, Over(), (AnswerClient(event=event),)


def _failed(router: Router, event: on.Event) -> Answered:
    return router, Over(), (AnswerClient(event=event), *_cancels(event))


def _refused(router: Router, event: on.Event) -> Answered:
    """Without I1 nobody but the client hears of a refusal, as in SGLang 0.5.20: decode waits, and holds its pages."""
    told = _cancels(event) if router.rules.has(Layer.ADMISSION) else ()
    return router, Over(), (AnswerClient(event=event), *told)


def _hung_up(router: Router, event: on.Event) -> Answered:
    return router, Over(), _cancels(event)


def _lost(router: Router, event: on.Event) -> Answered:
    who = event.worker if isinstance(event, on.WorkerLost) else "a worker"
    faulted = on.RequestFaulted(room=event.room, check=Check.WORKER_LOST, message=f"{who} is gone")
    return router, Over(), (AnswerClient(event=faulted), *_cancels(event))


def _limited(router: Router, event: on.Event) -> Answered:
    """I7, whatever has become of the room. Without I1 nobody measures."""
    if not isinstance(event, on.LimitMeasured):
        raise Violation(Check.ILLEGAL_EVENT, "only LimitMeasured moves the limit")
    if router.rules.has(Layer.ADMISSION):
        router = replace(router, advertised_tokens=min(router.advertised_tokens, event.usable_tokens))
    return router, router.rooms.get(event.room, Unknown()), ()


def _too_late(router: Router, _event: on.Event) -> Answered:
    return router, Unknown(), ()


def _cancels(event: on.Event) -> tuple[Send, ...]:
    return tuple(Send(to=role, event=on.ClientGone(room=event.room)) for role in _BOTH)


TABLE = {
    (Unknown, on.ClientAsked): _asked,
    (Unknown, on.TokensDecoded): _too_late,
    (Unknown, on.AnswerEnded): _too_late,
    (Unknown, on.RequestRefused): _too_late,
    (Unknown, on.RequestFaulted): _too_late,
    (Unknown, on.ClientGone): _too_late,
    (Unknown, on.WorkerLost): _too_late,
    (Unknown, on.LimitMeasured): _limited,
    (Open, on.LimitMeasured): _limited,
    (Open, on.TokensDecoded): _passed_on,
    (Open, on.AnswerEnded): _answered,
    (Open, on.RequestRefused): _refused,
    (Open, on.RequestFaulted): _failed,
    (Open, on.ClientGone): _hung_up,
    (Open, on.WorkerLost): _lost,
}
"""What is not here does not happen."""
