"""Workers and router are values; a step gives the next value and what to do."""

from kvfence.core import decode_side, prefill_side, router_side
from kvfence.core.actions import Action, Send
from kvfence.core.admission import Capacity, advertised_tokens
from kvfence.core.events import ClientAsked, Event, RequestOffered
from kvfence.core.handoff import Worker, new_worker
from kvfence.core.ids import Role, RoomId, TenantId
from kvfence.core.router_side import Router
from kvfence.core.rules import FENCED, Wire
from kvfence.core.wire import decode, encode


def workers(capacity: Capacity) -> tuple[Worker, Worker, Router]:
    """All three, empty."""
    prefill = new_worker(Role.PREFILL, capacity, FENCED, Wire.PUSH, layout="x")
    decoder = new_worker(Role.DECODE, capacity, FENCED, Wire.PUSH, layout="x")
    return prefill, decoder, Router(advertised_tokens=advertised_tokens([capacity], FENCED), rules=FENCED)


def first_messages(router: Router, tokens: int) -> tuple[Router, list[Event]]:
    """What the workers are sent."""
    asked = ClientAsked(room=RoomId(1), tenant=TenantId("A"), prompt_tokens=tokens, max_new_tokens=1)
    router, actions = router_side.step(router, asked)
    return router, [decode(encode(action.event)) for action in actions if isinstance(action, Send)]


def offered(prefill: Worker, decoder: Worker, event: RequestOffered) -> tuple[Action, ...]:
    """Both are told."""
    _, at_prefill = prefill_side.step(prefill, event)
    _, at_decode = decode_side.step(decoder, event)
    return at_prefill + at_decode
