"""What a search through the interleavings of a handoff has seen, as it is reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvfence.findings.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """One search: a wire, and how many faults could happen."""

    wire: str
    may_go_wrong: str
    """Which faults, and how many of them."""
    states: int
    transitions: int
    depth: int
    """Moves to the farthest state, or to the broken promise."""
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One move on the way to a broken promise."""

    says: str
    then: tuple[str, ...]
    """What changed by it: rooms and ends, in words."""
    arrow: str
    """The line of a Mermaid sequence diagram."""
    move: Mapping[str, str | int]
    """The move itself, so that it can be made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenPromise:
    """A promise, and a shortest way to break it."""

    invariant: str
    means: str
    """What the invariant promises, in a sentence."""
    why: str
    wire: str
    faults: int
    diagram: str
    """The whole of it in Mermaid."""
    trace: tuple[TraceStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interleavings:
    """Everything that was searched for one rule set."""

    rules: str
    checks: str
    bound: str
    bound_holds: str
    """The world's size in words."""
    spaces: tuple[Space, ...]
    violation: BrokenPromise | None = None

    @property
    def complete(self) -> bool:
        """Whether every state within the bound was seen."""
        return self.violation is None and all(space.complete for space in self.spaces)

    @property
    def states(self) -> int:
        """Different states, the last search of each wire counted: the earlier ones lie in it."""
        return sum({space.wire: space.states for space in self.spaces}.values())

    @property
    def verdict(self) -> Verdict:
        """Clean only where every state was seen."""
        if self.violation is not None:
            return Verdict.FOUND
        return Verdict.CLEAN if self.complete else Verdict.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What came of the moves of a trace, made again."""

    rules: str
    wire: str
    moves: int
    steps: tuple[TraceStep, ...]
    """Those that could be made."""
    broken: str | None
    """The promise that was broken in the end, and why."""
    in_cell: str = ""
    """What the same moves came to in the running cell, if they were made there."""

    @property
    def stopped(self) -> bool:
        """Whether some move could not be made: under these rules things go another way."""
        return len(self.steps) < self.moves

    @property
    def verdict(self) -> Verdict:
        """Clean where every move could be made and nothing is broken; a trace that stops says nothing of the rest."""
        if self.broken is not None:
            return Verdict.FOUND
        return Verdict.UNKNOWN if self.stopped else Verdict.CLEAN
