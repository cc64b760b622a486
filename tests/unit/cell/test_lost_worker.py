"""A cell that has lost a worker takes nothing more, and keeps no page for who is gone."""

from __future__ import annotations

import asyncio
import queue

import pytest

from kvfence.cell.asks import Ask, Faulted
from kvfence.cell.config import CellConfig
from kvfence.cell.driver import Plumbing
from kvfence.cell.paged_kv import PagedKV
from kvfence.cell.router import RouterDriver
from kvfence.cell.transports.local import LocalWire
from kvfence.cell.workers import WORKER_ROLES, new_driver
from kvfence.core import events as on
from kvfence.core.ids import Role, RoomId

CONFIG = CellConfig(prefill_pool_tokens=256, decode_pool_tokens=256, context_tokens=256, page_size=16)


@pytest.fixture
def boxes():
    return {role: queue.SimpleQueue() for role in Role}


def driver_of(role, boxes, clock=lambda: 0.0):
    stores = {each: PagedKV.private(CONFIG, each) for each in WORKER_ROLES}
    other = Role.DECODE if role is Role.PREFILL else Role.PREFILL
    wire = LocalWire(stores[role], stores[other])
    return new_driver(
        role, CONFIG, Plumbing(store=stores[role], wire=wire, inbox=boxes[role], outboxes=boxes, clock=clock)
    )


@pytest.mark.parametrize("lost", WORKER_ROLES)
def test_a_request_after_a_worker_is_lost_is_refused_and_the_other_worker_never_hears_of_it(boxes, lost):
    """Offered to decode, it would wait for pages until its time-out, and then drain for a prefill that is gone."""
    router = RouterDriver(
        CONFIG,
        inbox=boxes[Role.ROUTER],
        own=boxes[Role.ROUTER],
        outboxes={role: boxes[role] for role in WORKER_ROLES},
        alive=lambda: {role: role is not lost for role in WORKER_ROLES},
    )
    left = driver_of(Role.DECODE if lost is Role.PREFILL else Role.PREFILL, boxes)
    assert not router.healthy()

    async def answers():
        return [item async for item in router.answer(Ask(tenant="A", prompt=b"x" * 40, max_new_tokens=4))]

    (end,) = asyncio.run(asyncio.wait_for(answers(), 5))
    assert isinstance(end, Faulted)
    assert (end.check, str(lost) in end.message) == ("worker-lost", True)
    while left.turn():
        pass
    assert len(left.worker.rooms) == 0
    assert left.worker.pool.free_pages == 256 // 16
    assert router.open_answers == 0


def test_timers_due_at_one_moment_fire_in_the_order_in_which_they_were_set(boxes):
    """Not by where in memory their events lie: a run with the same seed is the same run."""
    driver = driver_of(Role.DECODE, boxes)
    fired = []
    driver.happen = lambda event, _payload=b"": fired.append(event.room)
    events = [on.HandoffTimedOut(room=RoomId(number)) for number in range(50)]
    for event in sorted(events, key=id, reverse=True):
        driver.later(0.0, event)
    driver.turn()
    assert fired == [event.room for event in sorted(events, key=id, reverse=True)]
