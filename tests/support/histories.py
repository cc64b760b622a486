"""What the checker finds under a historical rule set, searched once, in no larger a world than it takes."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from kvfence.core.ids import Role
from kvfence.core.rules import STALE_ACK, Layer, Reference, Rules
from kvfence.verify.bound import TWO_PAGES
from kvfence.verify.check import check
from kvfence.verify.explore import Violated, explore
from kvfence.verify.move import Kind, Move
from kvfence.verify.traces import replayed
from kvfence.verify.where_seen import bound_named
from kvfence.verify.world import Setting

ROUTER, PREFILL, DECODE = Role.ROUTER, Role.PREFILL, Role.DECODE


def offer(room: int, role: Role) -> Move:
    """The router's offer comes."""
    return Move(Kind.DELIVER, room, role, ROUTER, "RequestOffered")


COMPUTED = (
    Move(Kind.ASK, 1),
    offer(1, PREFILL),
    offer(1, DECODE),
    Move(Kind.DELIVER, 1, PREFILL, DECODE, "ReservationReceived"),
    Move(Kind.COMPUTE, 1, PREFILL),
)
"""A prompt of one page is computed, and on its way."""
LATE_ACK = (
    *COMPUTED,
    Move(Kind.LAND, 1, PREFILL),
    Move(Kind.HANG_UP, 1),
    Move(Kind.DELIVER, 1, DECODE, ROUTER, "ClientGone"),
    Move(Kind.DELIVER, 1, PREFILL, DECODE, "AbortReceived"),
    Move(Kind.DELIVER, 1, DECODE, PREFILL, "ManifestReceived"),
)
"""A request that ends everywhere while prefill's acknowledgement is still on its way."""


@lru_cache
def found(rules: Rules) -> tuple[Setting, Violated]:
    """The shortest trace of a named rule set, with only those kinds of fault that it needs."""
    bound = bound_named("small", rules)
    if rules is STALE_ACK:  # from the start it takes 45 s of a core, and finds a trace of the same length
        setting = Setting(rules, rules.wire, bound)
        return setting, _found_after(setting, LATE_ACK)
    brings = rules.reference is not Reference.FROM_PREFILL
    needs = bound.budget._replace(hang_ups=0, time_outs=1 - brings, duplicates=int(brings))
    shapes = (TWO_PAGES,) if rules.has(Layer.ADMISSION) else bound.shapes
    *_, last = check(rules, rules.wire, replace(bound, budget=needs, shapes=shapes))
    assert last.explored.violation is not None
    return last.setting, last.explored.violation


def _found_after(setting: Setting, moves: tuple[Move, ...]) -> Violated:
    """The shortest trace that begins with these moves."""
    begun = replayed(setting, moves)
    assert begun.broken is None
    assert begun.stopped_at is None
    violation = explore(begun.worlds[-1], setting).violation
    assert violation is not None
    return replace(violation, trace=(*moves, *violation.trace))
