"""What a question about a tree is, and how its answer is written down. No question lives here."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kvfence.facts.source.flow import Flow, Place, Reach, Walked
from kvfence.facts.source.parsed_code import Code, Function
from kvfence.findings.source_tree import FixVerdict, Presence


@dataclass(frozen=True, slots=True)
class Answer:
    """Before it has a name: what was decided, why, and where."""

    presence: Presence
    reason: str
    place: Place | None = None


def present(reason: str, place: Place | None) -> Answer:
    """The tree does it."""
    return Answer(Presence.PRESENT, reason, place)


def absent(reason: str, place: Place | None) -> Answer:
    """The tree is known not to do it."""
    return Answer(Presence.ABSENT, reason, place)


def cannot_tell(reason: str, place: Place | None = None) -> Answer:
    """Nothing is known."""
    return Answer(Presence.CANNOT_TELL, reason, place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One fix: what decides it, and which files must have been read before anything is called absent."""

    fix: str
    decide: Callable[[Code], Answer]
    needs: Sequence[str]
    """Parts of file names; one of them that could not be read turns `absent` into `cannot tell`."""

    def of(self, code: Code) -> FixVerdict:
        """The verdict on one tree. Whatever the tree holds, this returns."""
        try:
            answer = self.decide(code)
        except RecursionError:
            answer = cannot_tell("the code is nested too deeply to be followed")
        except Exception as error:  # noqa: BLE001 — a tree may hold anything; what failed has said nothing
            answer = cannot_tell(f"the question itself failed with {type(error).__name__}; report it")
        missing = code.why_not(*self.needs)
        if missing and answer.presence is not Presence.PRESENT:
            answer = cannot_tell(missing)
        return FixVerdict(
            fix=self.fix,
            presence=answer.presence,
            reason=answer.reason,
            seen=code.evidence(answer.place.file, answer.place.node) if answer.place else None,
        )


def place_of(function: Function) -> Place:
    """The line on which a function begins."""
    return Place(function.file, function.node)


def turned_away(flow: Flow, doors: Sequence[Function], *, gated: str, open_: str) -> Answer:
    """The answer over several doors: every one must be gated; one that is open decides."""
    walked = [(door, flow.walk(door)) for door in doors]
    ways: list[tuple[Function, Walked]] = [(door, way) for door, way in walked if way is not None]
    for _door, way in ways:
        if way.reach is Reach.SURELY:
            return absent(open_, way.sink)
    for door, way in ways:
        if way.reach is Reach.PERHAPS:
            return cannot_tell("a condition hangs on what the code does not show", way.doubt or place_of(door))
    if len(ways) < len(walked):
        return cannot_tell("there is too much code to follow")
    door, way = ways[0]
    return present(gated, way.gate or place_of(door))


def calls_of(node: ast.AST) -> list[ast.Call]:
    """Every call in it."""
    return [child for child in ast.walk(node) if isinstance(child, ast.Call)]
