"""A trace as it is written down, and made again move by move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kvfence.core.ids import Role
from kvfence.core.rules import NAMED, Rules, Wire
from kvfence.verify.at_rest import check_at_rest
from kvfence.verify.happenings import happenings
from kvfence.verify.move import CHOSEN, Kind, Move
from kvfence.verify.promises import check_now
from kvfence.verify.properties import Broken
from kvfence.verify.tidy import tidied
from kvfence.verify.where_seen import bound_named
from kvfence.verify.world import Setting, World, first_world


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of a trace."""

    worlds: tuple[World, ...]
    """The first, and one after each move that could be made and broke nothing."""
    broken: Broken | None
    """The promise that was broken in the end, if one was."""
    stopped_at: int | None
    """The place in the trace, from 0, of a move that could not be made."""


def replayed(setting: Setting, moves: Sequence[Move]) -> Replayed:
    """Make these moves from the first world on, and check every promise on the way."""
    worlds = [first_world(setting, stale_limit=True)]
    for at, move in enumerate(moves):
        happen = dict(happenings(worlds[-1], setting)).get(move)
        if happen is None:
            return Replayed(tuple(worlds), None, at)
        try:
            world = tidied(happen())
            check_now(world, setting)
        except Broken as broken:
            return Replayed(tuple(worlds), broken, None)
        worlds.append(world)
    try:
        if all(move.kind in CHOSEN for move, _ in happenings(worlds[-1], setting)):
            check_at_rest(worlds[-1])
    except Broken as broken:
        return Replayed(tuple(worlds), broken, None)
    return Replayed(tuple(worlds), None, None)


def as_document(move: Move) -> dict[str, str | int]:
    """A move as JSON has it; what is at its default is left out."""
    default = Move(move.kind)._asdict()
    return {name: value for name, value in move._asdict().items() if name == "kind" or value != default[name]}


def move_of(document: Mapping[str, Any]) -> Move:
    """Raises `ValueError`, `KeyError` or `TypeError` for what is no move."""
    unknown = document.keys() - set(Move._fields) - {"says"}
    if unknown:
        raise ValueError(f"a move has no {min(unknown)}")
    numbers = [document.get(name, 0) for name in ("room", "at", "tenant")]
    if not all(type(number) is int for number in numbers):
        raise TypeError("room, at and tenant are whole numbers")
    room, at, tenant = numbers
    role, sender = (Role(document[name]) if name in document else None for name in ("role", "sender"))
    return Move(Kind(document["kind"]), room, role, sender, str(document.get("event", "")), at, tenant)


def setting_of(document: Mapping[str, Any], rules: Rules | None = None) -> Setting:
    """What the trace was found under; with `rules`, those instead. Raises as `move_of` does."""
    violation = document["violation"]
    found_with = NAMED[document["rules"]]
    bound = bound_named(document["bound"], found_with)
    budget = bound.budget._replace(faults=int(violation["faults"]))
    return Setting(rules or found_with, Wire(violation["wire"]), replace(bound, budget=budget))
