"""Each promise is broken by hand, in a world that keeps all of them: a check that cannot fail checks nothing."""

from dataclasses import replace

import pytest

from kvfence.core.ids import Role
from kvfence.core.invariants import Check
from kvfence.core.lease import Quarantined
from kvfence.core.prefill_side import Computing as ComputingRoom
from kvfence.core.rules import FENCED, Wire
from kvfence.verify.at_rest import check_at_rest
from kvfence.verify.bound import TWO_PAGES, Bound, Budget, Shape
from kvfence.verify.explore import explore
from kvfence.verify.happenings import happenings
from kvfence.verify.marks import NOBODY, mark
from kvfence.verify.promises import check_now
from kvfence.verify.properties import Broken, Property
from kvfence.verify.tidy import tidied
from kvfence.verify.world import WORKERS_KEPT, Answering, End, Setting, first_world

TOLD_BY_BOTH = Shape(prompt_tokens=3, story=1)
SETTING = Setting(
    FENCED,
    Wire.PUSH,
    Bound(name="two", budget=Budget(requests=2), shapes=(TOLD_BY_BOTH, TWO_PAGES), prefill_pages=3, decode_pages=4),
)


def world_where(holds):
    """The first world, breadth first, of which this holds."""
    met = [first_world(SETTING)]
    known = set(met)
    for world in met:
        if holds(world):
            return world
        fresh = {tidied(happen()) for _, happen in happenings(world, SETTING)} - known
        known |= fresh
        met += sorted(fresh, key=repr)
    raise LookupError("no such world")


def answering(world):
    return any(isinstance(job.value, Answering) for job in world.work)


def sharing(world):
    return any(isinstance(room, ComputingRoom) and room.shared for room in world.prefill.value.rooms.values())


def painted(pages, written):
    return tuple(tuple(written for _ in page) for page in pages)


def broken_by(world):
    check_now(world, SETTING)
    return world


def with_decode_pool(world, pool):
    return world._replace(decode=WORKERS_KEPT.keep(replace(world.decode.value, pool=pool)))


def foreign_text(world):
    return world._replace(decode_pages=painted(world.decode_pages, mark(1, 9, 0)))


def emptied(world):
    return world._replace(decode_pages=painted(world.decode_pages, NOBODY))


def lost_a_page(world):
    pool = world.decode.value.pool
    return with_decode_pool(world, replace(pool, free_order=pool.free_order[1:]))


def answered_in_spite(world):
    return world._replace(
        clients=tuple(client._replace(failed_check=True, end=End.ANSWERED) for client in world.clients)
    )


def shared_with_another(world):
    return world._replace(prefill_pages=painted(world.prefill_pages, mark(1, 129, 0)))


@pytest.mark.parametrize(
    ("where", "changed", "promise"),
    [
        (answering, foreign_text, Property.FOREIGN_TEXT),
        (answering, emptied, Property.SEAL),
        (answering, lost_a_page, Property.CONSERVATION),
        (answering, answered_in_spite, Property.LOUD),
        (sharing, shared_with_another, Property.SHARING),
        (lambda world: any(world.decode.value.rooms), foreign_text, Property.OLD_TEXT),
    ],
)
def test_a_promise_that_is_broken_by_hand_is_noticed(where, changed, promise):
    """The world as it was keeps every promise; with one thing changed, that one is broken."""
    world = broken_by(world_where(where))
    with pytest.raises(Broken) as caught:
        check_now(changed(world), SETTING)
    assert caught.value.promise is promise


def test_at_rest_nothing_is_held_and_nobody_waits():
    """A room that is left, a page that is not back, and a limit that is out of date are noticed."""
    first = first_world(SETTING)
    check_at_rest(first)
    reserved = world_where(lambda world: any(world.decode.value.rooms))
    with pytest.raises(Broken) as waits:
        check_at_rest(reserved)
    assert waits.value.promise is Property.TOLD
    state = Quarantined(tenant="A", check=Check.DIGEST)
    pool = first.decode.value.pool
    order = tuple(page for page in pool.free_order if page)
    stale = with_decode_pool(first, replace(pool, states=(state, *pool.states[1:]), free_order=order))
    router = replace(stale.router.value, advertised_tokens=8)
    with pytest.raises(Broken) as promised:
        check_at_rest(stale._replace(router=type(stale.router)(router, 0)))
    assert promised.value.promise is Property.LIMIT


def test_what_two_tenants_both_tell_is_shared_by_neither():
    """I6: with equal prompts and so equal prefix keys, every interleaving without a fault keeps every promise."""
    seen = explore(first_world(SETTING), SETTING)
    assert seen.complete
    assert seen.violation is None
    assert sharing(world_where(sharing))
    assert world_where(sharing).worker(Role.PREFILL).prefixes
