"""Core's three machines, asked once for each state and event: they are pure, so the answer can be kept."""

from __future__ import annotations

from typing import TypeVar

from kvfence.core import decode_side, prefill_side, router_side
from kvfence.core.actions import Action
from kvfence.core.events import Event
from kvfence.core.handoff import Worker
from kvfence.core.ids import Role
from kvfence.core.invariants import Violation
from kvfence.core.router_side import Router
from kvfence.verify.kept import Kept
from kvfence.verify.world import ROUTERS, WORKERS_KEPT

Machine = TypeVar("Machine")
Answer = tuple[Kept[Machine], tuple[Action, ...]] | Violation

_STEPS = {Role.PREFILL: prefill_side.step, Role.DECODE: decode_side.step}
_workers: dict[tuple[Kept[Worker], Kept[Event]], Answer[Worker]] = {}
_routers: dict[tuple[Kept[Router], Kept[Event]], Answer[Router]] = {}


def step_worker(role: Role, worker: Kept[Worker], event: Kept[Event]) -> Answer[Worker]:
    """What prefill or decode makes of an event, or the rule that it breaks."""
    key = worker, event
    answer = _workers.get(key)
    if answer is None:
        try:
            after, actions = _STEPS[role](worker.value, event.value)
            answer = WORKERS_KEPT.keep(after), actions
        except Violation as violation:
            answer = violation
        _workers[key] = answer
    return answer


def step_router(router: Kept[Router], event: Kept[Event]) -> Answer[Router]:
    """What the router makes of an event, or the rule that it breaks."""
    key = router, event
    answer = _routers.get(key)
    if answer is None:
        try:
            after, actions = router_side.step(router.value, event.value)
            answer = ROUTERS.keep(after), actions
        except Violation as violation:
            answer = violation
        _routers[key] = answer
    return answer
