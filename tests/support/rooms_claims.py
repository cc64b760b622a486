"""What holds of rooms under the fence at every moment and at their end; and a long run of them, moved by chance."""

from __future__ import annotations

import random
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from kvfence.core import events as on
from kvfence.core.ids import Role
from kvfence.core.leasing import forget_prefixes
from kvfence.core.pool import Reuse, check_conservation
from kvfence.core.rules import FENCED, Rules, Wire
from support.rooms import PAIRS, STEPS, RoomWorld
from support.rooms_values import PAGE

RUN_MOVES = 120
_PAGES = (1, 1, 2, 2, 3, 3, 4, 5, 6, 9)
_SWARM = (0.3, 1, 3)
"""What a run makes of how likely each kind of move is: in some runs one is flooded and another one starved."""


def holds_now(world: RoomWorld) -> None:
    """Nothing foreign and nothing wrong has been read, and pages are conserved."""
    _must(not world.store.leaks, world.store.leaks)
    _must(not world.store.wrong, world.store.wrong)
    for role in STEPS:
        check_conservation(world.workers[role].pool)


def holds_at_the_end(world: RoomWorld, hung_up: AbstractSet[int]) -> None:
    """Whatever happened: let it run out, and every request has one end and every page is free."""
    world.run_out()
    holds_now(world)
    for room in world.asked:
        ends = world.ends.get(room, [])
        _must(len(ends) == 1 or (room in hung_up and len(ends) <= 1), (room, ends))
    for role in set(STEPS) - world.dead:
        worker = forget_prefixes(world.workers[role])
        counts = worker.pool.counts()
        _must(len(worker.rooms) == 0, worker.rooms)
        _must(counts["free"] + counts["quarantined"] == len(worker.pool.states), counts)
        _must(not counts["quarantined"] or world.checks, counts)
    faults = [end for ends in world.ends.values() for end in ends if isinstance(end, on.RequestFaulted)]
    _must(not faults or world.checks or world.dead, faults)


def _must(holds: object, seen: object) -> None:
    """Not an `assert`: Python drops those of a module that is no test under `-O`."""
    if not holds:
        raise AssertionError(seen)


def long_run(chance: random.Random, rules: Rules = FENCED) -> None:
    """Two tenants, several rooms, small pools: so many moves, the claims after each, and those of the end."""
    world = RoomWorld(
        rules,
        chance.choice(list(Wire)),
        prefill_pages=chance.randint(2, 8),
        decode_pages=chance.randint(4, 12),
        reuse=chance.choice(list(Reuse)),
        hold_writes=True,
        hold_reads=True,
    )
    if chance.random() < 0.5:
        world.router = replace(world.router, advertised_tokens=10**6)
    hung_up: set[int] = set()

    def hang_up() -> None:
        if world.asked:
            room = chance.choice(list(world.asked)[-4:])
            hung_up.add(room)
            world.hang_up(room)

    moves = {**_moves(world, chance), hang_up: 4.0}
    weights = [likely * chance.choice(_SWARM) for likely in moves.values()]
    for move in chance.choices(list(moves), weights, k=RUN_MOVES):
        move()
        holds_now(world)
    holds_at_the_end(world, hung_up)


def _moves(world: RoomWorld, chance: random.Random) -> dict[Callable[[], object], float]:
    """What can happen, and how likely. So chosen, 10 of 600 runs read foreign text where nothing drains."""

    def at() -> int:
        return chance.randrange(21)

    def role() -> Role:
        return chance.choice(list(STEPS))

    def ask() -> None:
        story, new_tokens = chance.choice((None, "told by both")), chance.randint(1, 2 * PAGE)
        world.ask(len(world.asked) + 1, chance.choice("AB"), chance.choice(_PAGES), new_tokens, story)

    def deliver() -> None:
        world.deliver(*chance.choice([pair for pair, channel in world.channels.items() if channel] or PAIRS))

    def deliver_everything() -> None:
        for pair in PAIRS:
            while world.deliver(*pair):
                pass

    def lose() -> None:
        if len(world.asked) > 2 and not world.dead:
            world.lose(role())

    return {
        ask: 6,
        deliver: 20,
        lambda: world.deliver_again(*chance.choice(PAIRS), at()): 1,
        deliver_everything: 1,
        lambda: world.report(role(), at()): 12,
        lambda: world.land(at()): 1,
        lambda: world.end_read(at()): 1,
        lambda: world.expire(role(), at()): 4,
        lose: 0.2,
    }
