"""Equal values, kept once: then equality is identity, and a state's hash is a hash of a few addresses.

Worlds are products of few distinct parts: thousands of states share one worker's state. So parts are hashed deeply
once, when they are first met, and what core answers to one event is looked up the next time.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value", bound=Hashable)


class Kept(Generic[Value]):
    """The one holder of a value; compared and hashed by identity. `number` orders what one shelf holds."""

    __slots__ = ("number", "value")

    def __init__(self, value: Value, number: int) -> None:
        self.value = value
        self.number = number

    def __repr__(self) -> str:
        return f"Kept({self.value!r})"


class Shelf(Generic[Value]):
    """Where values of one kind are kept."""

    def __init__(self) -> None:
        self._holders: dict[Value, Kept[Value]] = {}

    def keep(self, value: Value) -> Kept[Value]:
        """The holder of `value`: the same for equal values."""
        holder = self._holders.get(value)
        if holder is None:
            holder = self._holders[value] = Kept(value, len(self._holders))
        return holder

    def __len__(self) -> int:
        return len(self._holders)
