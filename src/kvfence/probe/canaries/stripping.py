"""Taking a marker and the sentence that carries it out of an answer, whole or piece by piece. Pure.

What comes in pieces comes out as what comes whole: a piece is held back only while it can still be the beginning of a
carrier, which is `HELD_CHARS_MAX` characters at most.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from kvfence.probe.canaries.wording import bare_atoms, beginning, carrier_atoms, longest, whole
from kvfence.probe.markers import MARKER_CHARS

HELD_CHARS_MAX = max(longest(carrier_atoms()), longest(bare_atoms("0" * MARKER_CHARS)))
"""By how many characters a stream is behind at most."""


@dataclass(frozen=True, slots=True)
class _Expressions:
    whole: re.Pattern[str]
    beginning: re.Pattern[str]


@dataclass(slots=True)
class Stripper:
    """Takes carriers out of one answer: `feed` what comes, `close` at its end."""

    own: str
    """The marker that was planted; it goes without its label too."""
    _held: str = field(default="", init=False)
    _said: bool = field(default=False, init=False)
    _trimming: bool = field(default=False, init=False)

    @property
    def held(self) -> str:
        """What is held back by now."""
        return self._held

    def feed(self, text: str) -> str:
        """What of the answer may be shown by now."""
        self._held += text
        shown: list[str] = []
        expressions = _expressions(self.own)
        start = max(0, len(self._held) - HELD_CHARS_MAX)
        # An earlier beginning would be longer than any carrier, so it is none.
        open_at = _start(expressions.beginning.search(self._held, start), len(self._held))
        while (found := expressions.whole.search(self._held)) and found.start() < open_at:
            shown.append(self._until(found))
            open_at = max(0, open_at - found.end())
        shown.append(self._pass(self._held[:open_at]))
        self._held = self._held[open_at:]
        return "".join(shown)

    def close(self) -> str:
        """The rest, when nothing more comes."""
        shown: list[str] = []
        while found := _expressions(self.own).whole.search(self._held):
            shown.append(self._until(found))
        shown.append(self.release())
        return "".join(shown)

    def release(self) -> str:
        """What is held back, as it came."""
        held, self._held = self._held, ""
        return self._pass(held)

    def _until(self, found: re.Match[str]) -> str:
        """What stands before a carrier, which is dropped."""
        before = self._pass(self._held[: found.start()])
        self._held = self._held[found.end() :]
        self._trimming = self._trimming or not self._said
        return before

    def _pass(self, text: str) -> str:
        if self._trimming:
            text = text.lstrip()  # the answer begins behind a carrier, and not with its empty lines
            self._trimming = not text
        self._said = self._said or bool(text)
        return text


def stripped(answer: str, own: str) -> str:
    """A whole answer without carriers."""
    stripper = Stripper(own)
    return stripper.feed(answer) + stripper.close()


@lru_cache(maxsize=64)
def _expressions(own: str) -> _Expressions:
    forms = (carrier_atoms(), bare_atoms(own))
    return _Expressions(
        re.compile("|".join(whole(form) for form in forms), re.IGNORECASE),
        re.compile("|".join(beginning(form) for form in forms), re.IGNORECASE),
    )


def _start(found: re.Match[str] | None, otherwise: int) -> int:
    return found.start() if found else otherwise
