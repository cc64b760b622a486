"""Where in somebody's own text a sentence may stand without breaking what is around it. Pure.

Between paragraphs, at the end of a line or between two sentences near the wanted depth, in this order; never inside
fenced code, and never where it would end a line of JSON too early. What goes between two sentences has no quotes and no
line breaks, so that one line of JSON stays JSON.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass

NEAR_CHARS = 2_000
NEAR_SHARE = 0.02
"""How far from the wanted depth a better place is preferred to a nearer one."""
_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n(?=\S)")
_FULL_STOP = re.compile(r"(?<=[.!?])\n(?=[^\s}\]])")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")
_LINE = re.compile(r"(?<![,{\[:])\n(?=[^\s}\]])")
_KINDS = ((_PARAGRAPH, "\n\n"), (_FULL_STOP, "\n"), (_SENTENCE, " "), (_LINE, "\n"))


@dataclass(frozen=True, slots=True)
class Gap:
    """Where a sentence goes, and what stands before and after it."""

    at: int
    before: str
    after: str

    def fill(self, text: str, sentence: str) -> str:
        """The text with the sentence in it."""
        return f"{text[: self.at]}{self.before}{sentence}{self.after}{text[self.at :]}"


def gap(text: str, depth: float) -> Gap:
    """The best place near `depth`, from 0 (before everything) to 1 (after everything)."""
    if depth >= 1:
        return Gap(len(text), "\n\n", "")
    wanted = round(depth * len(text))
    if wanted <= 0:
        return Gap(0, "", "\n\n")
    fences = [found.start() for found in _FENCE.finditer(text)]
    reach = max(NEAR_CHARS, round(NEAR_SHARE * len(text)))
    for low, high in ((max(0, wanted - reach), wanted + reach), (0, len(text))):
        for kind, after in _KINDS:
            free = (at for at in _places(kind, text, low, high) if bisect(fences, at) % 2 == 0)
            if (at := min(free, key=lambda at: abs(at - wanted), default=None)) is not None:
                return Gap(at, "", after)
    return Gap(0, "", "\n\n")


def _places(kind: re.Pattern[str], text: str, low: int, high: int) -> Iterator[int]:
    """Where what comes after a break of this kind begins."""
    return (found.end() for found in kind.finditer(text, low, high))
