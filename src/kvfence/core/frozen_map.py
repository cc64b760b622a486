"""A mapping that does not change: `with_` and `without` make another one. Hashable, so that states are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenMap(Mapping[Key, Value]):
    """Keeps the order of insertion; a key that is set again by `with_` keeps its place."""

    __slots__ = ("_entries", "_hash")

    def __init__(self, entries: Mapping[Key, Value] | Iterable[tuple[Key, Value]] = ()) -> None:
        self._entries: dict[Key, Value] = dict(entries)
        self._hash: int | None = None

    def with_(self, key: Key, value: Value) -> FrozenMap[Key, Value]:
        """The same, with `key` holding `value`: in its place if it was there, else last."""
        entries = self._entries.copy()
        entries[key] = value
        return FrozenMap(entries)

    def with_all(self, pairs: Iterable[tuple[Key, Value]]) -> FrozenMap[Key, Value]:
        """The same, with every pair set and last, in order."""
        entries = self._entries.copy()
        for key, value in pairs:
            entries.pop(key, None)
            entries[key] = value
        return FrozenMap(entries)

    def without(self, *keys: Key) -> FrozenMap[Key, Value]:
        """The same, lacking `keys`; a key that is not there is fine."""
        entries = self._entries.copy()
        for key in keys:
            entries.pop(key, None)
        return FrozenMap(entries)

    def __getitem__(self, key: Key) -> Value:
        return self._entries[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap):
            return list(self._entries.items()) == list(other._entries.items())
        return NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(self._entries.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"FrozenMap({len(self._entries)} entries)"
