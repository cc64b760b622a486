"""Breadth first through every world, so that the first broken promise is met on a shortest way."""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from kvfence.verify.at_rest import check_at_rest
from kvfence.verify.circles import on_a_circle
from kvfence.verify.happenings import happenings
from kvfence.verify.move import CHOSEN, Move
from kvfence.verify.promises import check_now
from kvfence.verify.properties import Broken, Property
from kvfence.verify.tidy import tidied
from kvfence.verify.world import Setting, World


@dataclass(frozen=True, slots=True)
class Violated:
    """A promise, and a shortest way to break it."""

    promise: Property
    why: str
    trace: tuple[Move, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """What a search has seen."""

    states: int
    transitions: int
    depth: int
    """Moves to the farthest state, or to the violation."""
    complete: bool
    """Whether every state within the bound was seen; False where something was found, or the limit met."""
    violation: Violated | None = None


def explore(
    first: World, setting: Setting, on_layer: Callable[[int, int], None] = lambda _depth, _states: None
) -> Explored:
    """Every world that can be reached from `first`. `on_layer` hears of the depth and the states seen so far."""
    collecting = gc.isenabled()
    gc.disable()  # worlds hold no circles, and there are hundreds of thousands of them
    try:
        return _Search(first, setting).run(on_layer)
    finally:
        if collecting:
            gc.enable()


class _Search:
    """Worlds by number, in the order in which they were met; each knows the one that it was first met from."""

    def __init__(self, first: World, setting: Setting) -> None:
        self._setting = setting
        self._numbers: dict[World, int] = {first: 0}
        self._parents = array("q", [0])
        self._transitions = 0
        self._sure = array("q")
        """Moves that are under way, as pairs of numbers: from, to."""
        self._depth = 0

    def run(self, on_layer: Callable[[int, int], None]) -> Explored:
        frontier = list(self._numbers)
        while frontier:
            on_layer(self._depth, len(self._numbers))
            met: list[World] = []
            for world in frontier:
                violated = self._expand(world, met)
                if violated is not None:
                    return self._result(complete=False, violation=violated)
                if len(self._numbers) > self._setting.bound.states_max:
                    return self._result(complete=False)
            frontier = met
            self._depth += bool(met)
        return self._result(complete=True, violation=self._circle())

    def _circle(self) -> Violated | None:
        """A way that can be gone on with for ever, without a fault and without another request."""
        number = on_a_circle(len(self._numbers), self._sure)
        if number is None:
            return None
        return Violated(Property.NO_CIRCLE, "what is under way can go on for ever", self._way_to(number))

    def _expand(self, world: World, met: list[World]) -> Violated | None:
        number = self._numbers[world]
        at_rest = True
        for move, happen in happenings(world, self._setting):
            self._transitions += 1
            at_rest = at_rest and move.kind in CHOSEN
            try:
                after = tidied(happen())
                known = self._numbers.get(after)
                if known is None:
                    check_now(after, self._setting)
                    known = self._numbers[after] = len(self._numbers)
                    self._parents.append(number)
                    met.append(after)
            except Broken as broken:
                self._depth += 1
                return Violated(broken.promise, broken.why, (*self._way_to(number), move))
            if move.kind not in CHOSEN:
                self._sure.extend((number, known))
        try:
            if at_rest and world.left.drops == self._setting.bound.budget.drops:  # who is told of nothing may wait
                check_at_rest(world)
        except Broken as broken:
            return Violated(broken.promise, broken.why, self._way_to(number))
        return None

    def _way_to(self, number: int) -> tuple[Move, ...]:
        """The moves from the first world, found again by making the worlds on the way once more."""
        worlds = list(self._numbers)
        numbers = [number]
        while numbers[-1]:
            numbers.append(self._parents[numbers[-1]])
        way = [worlds[at] for at in reversed(numbers)]
        return tuple(self._move_between(one, other) for one, other in pairwise(way))

    def _move_between(self, one: World, other: World) -> Move:
        for move, happen in happenings(one, self._setting):
            try:
                if tidied(happen()) == other:
                    return move
            except Broken:
                continue
        raise LookupError("a world was met that no move leads to")

    def _result(self, *, complete: bool, violation: Violated | None = None) -> Explored:
        return Explored(
            states=len(self._numbers),
            transitions=self._transitions,
            depth=self._depth,
            complete=complete and violation is None,
            violation=violation,
        )
