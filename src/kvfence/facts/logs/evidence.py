"""All that was said of one start of a server, and the questions that a reader may ask of it. Bounded, whatever the log.

Several ranks say the same thing, and an engine may say a thing twice. So each question says which answer it wants:
the one value that all agree on, the last one, or the smallest over the ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kvfence.facts.fact import Fact
from kvfence.findings.finding import Evidence

_PLACES_MAX = 64
"""Distinct (rank, value) pairs that are kept of one name; beyond that the first ones and the last one stay."""


@dataclass(slots=True)
class Heard:
    """What was said, by name, rank and value. The reader's memory of one start."""

    _by_name: dict[str, dict[tuple[str, str | int | bool], Evidence]] = field(default_factory=dict)

    def hear(self, name: str, *, rank: str, value: str | int | bool, seen: Callable[[], Evidence]) -> None:
        """Remember it; a repetition counts as the latest but keeps its first place."""
        places = self._by_name.setdefault(name, {})
        first_seen = places.pop((rank, value), None) or seen()
        if len(places) >= _PLACES_MAX:
            del places[next(reversed(places))]
        places[rank, value] = first_seen

    def knows(self, name: str, rank: str, value: str | int | bool) -> bool:  # noqa: FBT001 — a value of any kind
        """Whether that rank said just that, and it is kept."""
        return (rank, value) in self._by_name.get(name, ())

    def forget(self, names: Iterable[str]) -> None:
        """Drop what turned out to belong to nobody in particular."""
        for name in names:
            self._by_name.pop(name, None)

    def has(self, name: str) -> bool:
        """Whether it was said at all."""
        return name in self._by_name

    def last(self, name: str) -> Fact | None:
        """What was said last, by any rank."""
        places = self._by_name.get(name)
        if not places:
            return None
        (_rank, value), seen = next(reversed(places.items()))
        return Fact(value, seen)

    def agreed(self, name: str) -> Fact | None:
        """The value, if everybody says the same."""
        places = self._by_name.get(name, {})
        return self.last(name) if len({value for _rank, value in places}) == 1 else None

    def least(self, name: str) -> Fact | None:
        """The smallest over the ranks of what each said last: one small rank is enough to refuse a prompt."""
        latest = {rank: Fact(value, seen) for (rank, value), seen in self._by_name.get(name, {}).items()}
        return min(latest.values(), key=lambda fact: int(fact.value), default=None)

    def first_place(self) -> Evidence | None:
        """The earliest place at which anything was said."""
        places = (seen for said in self._by_name.values() for seen in said.values())
        return min(places, key=lambda seen: seen.line or 0, default=None)

    def values(self, name: str) -> tuple[str | int | bool, ...]:
        """All values that were said, the last one last."""
        return tuple(value for _rank, value in self._by_name.get(name, {}))


def first_of(*facts: Fact | None) -> Fact | None:
    """The first that is known: sources in the order in which they are trusted."""
    return next((fact for fact in facts if fact is not None), None)
