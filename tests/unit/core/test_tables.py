"""Every cell of every table: all states by all events, enumerated."""

import contextlib
import random
from dataclasses import replace

import pytest

from kvfence.core import decode_side, handoff, prefill_side, router_side
from kvfence.core import events as on
from kvfence.core.admission import admit
from kvfence.core.handoff import Over, Queued, TurnCame, Unknown, Worker, state_of
from kvfence.core.ids import Role, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import PAGE_MOVES, Draining, Filling, Free, Leased, Move, Quarantined, Sealed, moved
from kvfence.core.pool import check_conservation
from kvfence.core.rules import FENCED, NAMED, Layer, Wire, only
from support.rooms import RoomWorld
from support.rooms_values import PAGE, every_event, leases, worker

TABLES = {Role.PREFILL: prefill_side.TABLE, Role.DECODE: decode_side.TABLE}
STEPS = {Role.PREFILL: prefill_side.step, Role.DECODE: decode_side.step}
STATES = {
    Role.PREFILL: (
        Unknown,
        Over,
        Queued,
        prefill_side.Announced,
        prefill_side.Offered,
        prefill_side.Computing,
        prefill_side.Attesting,
        prefill_side.Sending,
        prefill_side.Held,
        prefill_side.Draining,
    ),
    Role.DECODE: (
        Unknown,
        Over,
        Queued,
        decode_side.Reserved,
        decode_side.Pulling,
        decode_side.Verifying,
        decode_side.Decoding,
        decode_side.Draining,
    ),
}
HELD = (leases(1, "A", 3), leases(1, "A", 1), leases(1, "A", 3, epoch=2))
RULES = (*NAMED.values(), only(Layer.DIGEST), only(Layer.COUNT))


def wandered():
    """Every step of three rooms of two tenants in many random orders, over all wires and several rules."""
    for seed in range(1200):
        rng = random.Random(seed)
        rules, kind = rng.choice(RULES), rng.choice(list(Wire))
        world = RoomWorld(rules, kind, prefill_pages=rng.choice((2, 4, 8)), decode_pages=rng.choice((6, 12)))
        world.hold_writes = world.hold_reads = True
        if rng.random() < 0.5:  # a router that lets everything through, so that the workers' own doors are tried
            world.router = replace(world.router, advertised_tokens=10**6)
        for room in rng.sample((1, 2, 3), 3):
            world.ask(
                room, rng.choice("AB"), rng.randrange(1, 8), new_tokens=PAGE, story=rng.choice((None, "told twice"))
            )
            for _ in range(rng.randrange(12)):
                world.at_random(rng)
        for _ in range(60):
            world.at_random(rng)
        yield from world.seen


@pytest.fixture(scope="module")
def steps():
    return list(wandered())


@pytest.fixture(scope="module")
def machines(steps):
    """Distinct workers that were met, one for each kind of state of room 1 and a few more of each."""
    kept: dict[tuple[Role, type], list[Worker]] = {}
    for role, before, _, _ in steps:
        known = kept.setdefault((role, type(state_of(before, RoomId(1)))), [])
        if len(known) < 25:
            known.append(before)
    return [(role, worker) for (role, _), workers in kept.items() for worker in workers]


def test_every_state_is_reached(machines):
    """The enumeration below has every state of both roles in it."""
    seen = {role: {type(state_of(worker, RoomId(1))) for at, worker in machines if at is role} for role in TABLES}
    assert seen == {role: set(states) for role, states in STATES.items()}


def test_every_state_takes_every_event_or_refuses_it_whole(machines):
    """All states by all events: a new state with pages conserved, or a Violation; never anything else."""
    for role, before in machines:
        for held in HELD:
            for event in every_event(1, held):
                copy = (before.pool, before.rooms, before.over, before.prefixes)
                try:
                    after, _ = STEPS[role](before, event)
                except Violation:
                    after = before
                assert copy == (before.pool, before.rooms, before.over, before.prefixes)
                check_conservation(after.pool)


def test_every_row_of_the_tables_leads_where_it_says_and_each_end_is_reached(steps, machines):
    """No row names a next state that nothing leads to."""
    led: dict[tuple[Role, type, type], set[type]] = {}
    for role, before, event, after in steps:
        key = role, type(state_of(before, event.room)), type(event)
        led.setdefault(key, set()).add(type(state_of(after, event.room)))
        for room, state in before.rooms.items():
            if isinstance(state, Queued) and room != event.room:
                led.setdefault((role, Queued, TurnCame), set()).add(type(state_of(after, room)))
    for role, before in machines:
        state = state_of(before, RoomId(1))
        for event in (one for held in HELD for one in every_event(1, held)):
            row = TABLES[role].get((type(state), type(event)))
            if row is not None:
                with contextlib.suppress(Violation):
                    led.setdefault((role, type(state), type(event)), set()).add(
                        type(row.run(before, state, event).state)
                    )
    missing = {
        f"{role} {state.__name__} {event.__name__}": sorted(to.__name__ for to in set(row.to) - seen)
        for role, table in TABLES.items()
        for (state, event), row in table.items()
        if not set(row.to) <= (seen := led.get((role, state, event), set()))
    }
    assert missing == {}


def test_rows_name_known_states_only():
    """Every state in a table is one of its role's."""
    for role, table in TABLES.items():
        assert {state for state, _ in table} == set(STATES[role])
        assert {to for row in table.values() for to in row.to} <= set(STATES[role])


@pytest.mark.parametrize("event", every_event(7, leases(7)), ids=lambda event: type(event).__name__)
def test_the_router_takes_every_event_or_refuses_it_whole(event):
    """Both states of the router by all events."""
    empty = router_side.Router(advertised_tokens=100, rules=FENCED)
    asked = on.ClientAsked(room=RoomId(7), tenant=TenantId("A"), prompt_tokens=8, max_new_tokens=4)
    open_, _ = router_side.step(empty, asked)
    for router in (empty, open_):
        if (type(router.rooms.get(event.room, Unknown())), type(event)) in router_side.TABLE:
            assert len(router_side.step(router, event)[0].rooms) <= 1
        else:
            with pytest.raises(Violation, match="illegal-event"):
                router_side.step(router, event)


PAGES = {
    Free: Free(TenantId("A")),
    Leased: Leased(TenantId("A"), RoomId(1)),
    Filling: Filling(TenantId("A"), RoomId(1)),
    Sealed: Sealed(TenantId("A"), 1),
    Draining: Draining(TenantId("A"), RoomId(1)),
    Quarantined: Quarantined(TenantId("A"), Check.DIGEST),
}


@pytest.mark.parametrize("state", PAGES.values(), ids=lambda state: type(state).__name__)
@pytest.mark.parametrize("move", Move)
def test_a_page_moves_as_the_table_says_or_not_at_all(state, move):
    """All states of a page by all moves."""
    by = leases(1, "A", 1)
    allowed = PAGE_MOVES.get((type(state), move))
    if allowed is None:
        with pytest.raises(Violation, match="illegal-page-move"):
            moved(state, move, by=by)
    else:
        after = moved(state, move, by=by, check=Check.COUNT)
        assert isinstance(after, allowed)
        assert not isinstance(after, Quarantined) or after.check is Check.COUNT


def test_a_page_held_back_without_a_check_is_so_for_the_accounts():
    """No quarantine is without a reason."""
    assert moved(PAGES[Filling], Move.QUARANTINE, by=leases(1, "A", 1)).check is Check.CONSERVATION


def test_another_room_cannot_move_a_rooms_page_nor_another_tenant_a_sealed_one():
    """A right is used by its room; a sealed page by its tenant alone (I6)."""
    with pytest.raises(Violation, match="illegal-page-move"):
        moved(PAGES[Filling], Move.SEAL, by=leases(2, "A", 1))
    with pytest.raises(Violation, match="I6"):
        moved(PAGES[Sealed], Move.SHARE, by=leases(2, "B", 1))


def test_an_ended_room_is_forgotten_only_after_many_others():
    """Late messages of the last 4,096 rooms meet a room that is over."""
    decode = worker(Role.DECODE)
    for room in range(handoff.ROOMS_REMEMBERED + 2):
        decode, _ = decode_side.step(decode, on.ClientGone(room=RoomId(room)))
    assert isinstance(state_of(decode, RoomId(1)), Unknown)
    assert isinstance(state_of(decode, RoomId(2)), Over)
    assert len(decode.over) == handoff.ROOMS_REMEMBERED


def test_admit_is_the_only_source_of_an_admission():
    """An Admitted made by hand is a Violation."""
    admitted = admit(4, worker(Role.DECODE).capacity, 9, gate=Role.DECODE, rules=FENCED)
    with pytest.raises(Violation, match="forged"):
        type(admitted)(4, 1, object())
