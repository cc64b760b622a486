"""Which release of its engine a node runs, as far as its sources show it. The one place that makes a version of facts.

A log may print its version, or only bound it by what it can and cannot print. Each bound is true of the line that it
was made of, and two of them may still contradict each other: lines of two releases in one log, or a build with changes
from a later one. There is no range then, and none can be made: `Between` refuses one that runs backwards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from kvfence.facts.fact import Fact

EXACT, OLDEST, NEWEST = "engine_version", "engine_version_min", "engine_version_max"
BOUNDS = frozenset({OLDEST, NEWEST})
_OF_NO_RELEASE = re.compile(r"v?(?:0\.0\.0|0\.1)\.?dev", re.ASCII)
"""What a build from a tree without tags calls itself: SGLang 0.0.0.dev0 (`fallback_version` in its pyproject.toml),
vLLM 0.1.dev and a count of commits (setuptools-scm's own)."""
_NUMBERS_MAX = 8
_DIGITS_MAX = 9


@dataclass(frozen=True, slots=True)
class Exactly:
    """A source says it."""

    version: str

    def __str__(self) -> str:
        return self.version


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A source says it, and it names no release: nothing comes before or after it."""

    version: str

    def __str__(self) -> str:
        return f"{self.version}, a build that names no release"


@dataclass(frozen=True, slots=True)
class Between:
    """From the oldest to the newest, both of them included; an end that is None is open: both, if nothing was read.

    Raises:
        ValueError: the newest comes before the oldest.
    """

    oldest: str | None
    newest: str | None

    def __post_init__(self) -> None:
        if self.oldest and self.newest and is_older(self.newest, self.oldest):
            raise ValueError(f"no version is {self.oldest} or later and {self.newest} or older")

    def __str__(self) -> str:
        match self.oldest, self.newest:
            case None, None:
                return "of a version that was not read"
            case None, newest:
                return f"{newest} or older"
            case oldest, None:
                return f"{oldest} or later"
            case oldest, newest:
                return str(oldest) if oldest == newest else f"{oldest} to {newest}"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two bounds that no version lies between."""

    oldest: Fact
    newest: Fact

    def __str__(self) -> str:
        return "of a version on which its own lines contradict each other"

    @property
    def told(self) -> str:
        """Both bounds, each with its place."""
        oldest, newest = self.oldest, self.newest
        return (
            f"{oldest.seen.place} says {oldest.value} or later ({oldest.seen.text}), and "
            f"{newest.seen.place} says {newest.value} or older ({newest.seen.text})"
        )


KnownVersion = Exactly | Unplaced | Between | Contradiction


def known_version(facts: Mapping[str, Fact]) -> KnownVersion:
    """What these facts of one node say of its version: itself where a source says it, else its bounds."""
    exact, oldest, newest = (facts.get(name) for name in (EXACT, OLDEST, NEWEST))
    if exact:
        version = str(exact.value)
        return Exactly(version) if _numbers(version) else Unplaced(version)
    if oldest and newest and is_older(str(newest.value), str(oldest.value)):
        return Contradiction(oldest, newest)
    return Between(str(oldest.value) if oldest else None, str(newest.value) if newest else None)


def denied(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """The bounds that cannot be told as such: those that the version itself, or the other bound, denies."""
    exact, bounds = facts.get(EXACT), {name: facts[name] for name in (OLDEST, NEWEST) if name in facts}
    if exact is None:
        return bounds if isinstance(known_version(facts), Contradiction) else {}
    version = str(exact.value)
    return {
        name: bound
        for name, bound in bounds.items()
        if is_older(*((version, str(bound.value)) if name == OLDEST else (str(bound.value), version)))
    }


def as_bound(name: str, bound: Fact) -> Fact:
    """A bound as a text that says which of the two it is."""
    return Fact(f"{bound.value} or {'later' if name == OLDEST else 'older'}", bound.seen)


def ends(version: KnownVersion) -> tuple[str | None, str | None]:
    """The oldest and the newest that it can be; None where that is open."""
    match version:
        case Exactly(exact):
            return exact, exact
        case Between(oldest, newest):
            return oldest, newest
        case Unplaced() | Contradiction():
            return None, None
        case _:
            assert_never(version)


def is_older(one: str, other: str) -> bool:
    """Whether a version comes before another; suffixes such as `.post1` and `rc2` are not looked at.

    What names no release comes before none and after none.
    """
    numbers, others = _numbers(one), _numbers(other)
    return bool(numbers and others) and numbers < others


def order(fact: Fact) -> tuple[int, ...]:
    """A bound, to be compared with other bounds."""
    return _numbers(str(fact.value))


def _numbers(version: str) -> tuple[int, ...]:
    """`v0.5.21.post1` as (0, 5, 21), then zeros, so that 1 is 1.0; none of what names no release."""
    if _OF_NO_RELEASE.match(version):
        return ()
    numbers = []
    for part in version.removeprefix("v").split(".", _NUMBERS_MAX):
        digits = re.match(rf"[0-9]{{1,{_DIGITS_MAX}}}", part)
        if not digits:
            break
        numbers.append(int(digits[0]))
    return (*numbers, *[0] * (_NUMBERS_MAX + 1 - len(numbers))) if numbers else ()
