"""Everything that can happen next in a world.

Nothing promises an order between messages, writes, reads and work, so each of them may be next; and a fault, as long
as the budget has any left.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.verify import callers, clients, mortality, network, under_way
from kvfence.verify.move import Happening
from kvfence.verify.world import Setting, World


def happenings(world: World, setting: Setting) -> Iterator[Happening]:
    """Each move with what makes the world after it."""
    going_on = False
    for happening in _going_on(world, setting):
        going_on = True
        yield happening
    if not going_on and lossy(world, setting):
        yield from mortality.lost_patience(world, setting)
    yield from clients.asks(world, setting)
    yield from mortality.returns(world)
    if world.left.faults:
        yield from clients.hang_ups(world, setting)
        if world.left.time_outs:
            yield from mortality.time_outs(world, setting)
        yield from network.mishaps(world, setting)
        yield from callers.references(world, setting)
        yield from mortality.crashes(world, setting)


def lossy(world: World, setting: Setting) -> bool:
    """Whether something was lost on the way here: a message, a worker, or what a caller was in the way of."""
    budget = setting.bound.budget
    lost = world.left.drops < budget.drops or world.left.crashes < budget.crashes
    return lost or callers.may_be_missed(world, setting)


def _going_on(world: World, setting: Setting) -> Iterator[Happening]:
    yield from under_way.pieces(world, setting)
    yield from network.deliveries(world, setting)
    yield from mortality.notices(world, setting)
    yield from mortality.ends_of_draining(world, setting)
