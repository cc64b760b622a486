"""Halves of exchanges that wait for their other half, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from kvfence.scan.exchange import Place
from kvfence.scan.formats.format import NOTHING, Said

CHARS_MAX = 64 << 20
"""Of all texts that wait; a thousand requests at once of 16,000 tokens each."""
_OWN_CHARS = 200


@dataclass(slots=True)
class Half:
    """What is known of an exchange so far."""

    place: Place
    prompt: Said = NOTHING
    pieces: list[str] = field(default_factory=list)
    """Of a streamed answer."""
    fields: dict[str, int | str | None] = field(default_factory=dict)
    is_told: bool = False
    """Whether it was given out: it waits on for another answer to the same prompt."""

    @property
    def chars(self) -> int:
        """About how much memory it takes."""
        return len(self.prompt.text) + sum(map(len, self.pieces)) + _OWN_CHARS


class Pending:
    """The halves by their ids. The oldest are given up when they are too much."""

    def __init__(self, chars_max: int = CHARS_MAX) -> None:
        self._halves: OrderedDict[str, Half] = OrderedDict()
        self._chars, self._chars_max = 0, chars_max

    def get(self, name: str) -> Half | None:
        """The half of this id."""
        return self._halves.get(name)

    def put(self, name: str, half: Half) -> Iterator[tuple[str, Half]]:
        """Keep it, in place of an older one of the same id; what is given up for it."""
        old = self._halves.pop(name, None)
        if old is not None:
            self._chars -= old.chars
            yield name, old
        self._halves[name] = half
        self._chars += half.chars
        while self._chars > self._chars_max and len(self._halves) > 1:
            oldest, given_up = self._halves.popitem(last=False)
            self._chars -= given_up.chars
            yield oldest, given_up

    def take(self, name: str) -> Half | None:
        """The half of this id, which waits no longer."""
        half = self._halves.pop(name, None)
        if half is not None:
            self._chars -= half.chars
        return half

    def grow(self, half: Half, piece: str) -> None:
        """Add a piece to a streamed answer."""
        half.pieces.append(piece)
        self._chars += len(piece)

    def rest(self) -> Iterator[tuple[str, Half]]:
        """All that still wait."""
        yield from self._halves.items()
        self._halves.clear()
        self._chars = 0
