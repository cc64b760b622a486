"""A rule set under a bound: with no fault first, then with one more each time, on each wire.

So what is found needs as few faults as any way to a broken promise, and of those it is a shortest one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from kvfence.core.rules import FENCED, Rules, Wire, natural_wire
from kvfence.verify.bound import Bound
from kvfence.verify.explore import Explored, explore
from kvfence.verify.world import Setting, first_world


@dataclass(frozen=True, slots=True)
class Checked:
    """What was seen with one wire and so many faults."""

    setting: Setting
    explored: Explored

    @property
    def faults(self) -> int:
        """How many faults could happen."""
        return self.setting.bound.budget.faults


def wires_of(rules: Rules) -> tuple[Wire, ...]:
    """Every wire for the fence; for what the field had, the wire on which it was seen."""
    return tuple(Wire) if rules.name == FENCED.name else (natural_wire(rules),)


def check(
    rules: Rules, wire: Wire, bound: Bound, on_layer: Callable[[int, int], None] = lambda _depth, _states: None
) -> Iterator[Checked]:
    """One search after the other, until something is found, a limit is met, or every fault was allowed.

    The router believes that more fits than does: gates behind it are met as well as its own.
    """
    for faults in range(bound.budget.faults + 1):
        setting = Setting(rules, wire, replace(bound, budget=bound.budget._replace(faults=faults)))
        explored = explore(first_world(setting, stale_limit=True), setting, on_layer)
        yield Checked(setting, explored)
        if not explored.complete:
            return
