"""A check from the first search to the story of what it found, as `findings` has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from kvfence.core.rules import Rules, Wire
from kvfence.findings.interleaving import BrokenPromise, Interleavings, Replay, Space
from kvfence.verify.bound import Bound
from kvfence.verify.check import Checked, check
from kvfence.verify.explore import Violated
from kvfence.verify.move import Move
from kvfence.verify.properties import MEANS
from kvfence.verify.story import diagram, steps
from kvfence.verify.traces import replayed
from kvfence.verify.world import Setting

OnLayer = Callable[[str, int, int], None]
"""Hears of the search in words, its depth, and the states seen so far."""


def verified(rules: Rules, wires: Iterable[Wire], bound: Bound, on_layer: OnLayer = lambda *_: None) -> Interleavings:
    """Search each wire in turn, up to the first broken promise."""
    spaces: list[Space] = []
    violation = None
    for wire in wires:
        for seen in check(rules, wire, bound, partial(on_layer, wire)):
            spaces.append(_space(seen))
            if seen.explored.violation is not None:
                violation = broken_promise(seen.explored.violation, seen.setting)
        if violation is not None:
            break
    return Interleavings(
        rules=rules.name,
        checks=rules.checks,
        bound=bound.name,
        bound_holds=bound.in_words,
        spaces=tuple(spaces),
        violation=violation,
    )


def broken_promise(found: Violated, setting: Setting) -> BrokenPromise:
    """The way to it, told move by move."""
    told = tuple(steps(found.trace, replayed(setting, found.trace).worlds, setting))
    return BrokenPromise(
        invariant=found.promise,
        means=MEANS[found.promise],
        why=found.why,
        wire=setting.wire,
        faults=setting.bound.budget.faults,
        diagram=diagram(told, found.why),
        trace=told,
    )


def _space(seen: Checked) -> Space:
    explored = seen.explored
    return Space(
        wire=seen.setting.wire,
        may_go_wrong=seen.setting.bound.budget.in_words,
        states=explored.states,
        transitions=explored.transitions,
        depth=explored.depth,
        complete=explored.complete,
    )


def replay_of(setting: Setting, moves: Sequence[Move]) -> Replay:
    """A trace, made again."""
    again = replayed(setting, moves)
    made = moves if again.stopped_at is None else moves[: again.stopped_at]
    return Replay(
        rules=setting.rules.name,
        wire=setting.wire,
        moves=len(moves),
        steps=tuple(steps(made, again.worlds, setting)),
        broken=None if again.broken is None else str(again.broken),
    )
