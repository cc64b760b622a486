"""What an answer recites of its own prompt's markers, and in what state. Pure; no other prompt is known here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from kvfence.probe.markers import ALPHABET, GROUP, MARKER_CHARS, markers_in
from kvfence.probe.prompts import STOP

_THOUGHT_ENDS = "</think>"
_LABEL = re.compile(r"\d{1,2}-CODE-\d{1,2}:?", re.IGNORECASE)
_LIKE_A_MARKER = re.compile(r"(?<![\w-])(?=[A-Z-]*\d)[0-9A-Z]{4,6}(?:-[0-9A-Z]{4,6}){2,}", re.IGNORECASE)
_A_GROUP = re.compile(rf"(?<![{ALPHABET}])[{ALPHABET}]{{{GROUP}}}(?![{ALPHABET}])")
_A_GROUP_NO_WORD = re.compile(rf"(?=[A-Z]*\d){_A_GROUP.pattern}")
_WORDS = re.compile(r"\w+(?:-\w+)*")
_SAME = re.compile(r"(\S)\1{15,}|\ufffd")
"""One sign again and again, or bytes that are no text: an engine whose numbers went wrong (omlx #3777)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recital:
    """What an answer has of the markers that it was asked for."""

    recalled: tuple[str, ...]
    """Own markers that came back whole, in the order in which they first did."""
    own: tuple[str, ...]
    in_order: bool
    changed: int
    """Own markers that came back in part, and what else looks like a marker."""
    corrupt: bool
    """It has runs of one sign, or what is no text."""
    prose: str
    """The answer without labels and without anything that looks like a marker or a group of one."""
    had_room: bool
    """It is as long as a right answer would be."""

    @property
    def complete(self) -> bool:
        """Every marker came back."""
        return len(self.recalled) == len(self.own)

    @property
    def is_right(self) -> bool:
        """Everything that was asked for came back, as it was asked for."""
        return self.complete and self.in_order and not self.changed and not self.corrupt

    @property
    def is_start(self) -> bool:
        """What came back is a right answer's beginning."""
        return self.recalled == self.own[: len(self.recalled)]


def recital(answer: str, own: tuple[str, ...], *, cut: bool, known: frozenset[str] = frozenset()) -> Recital:
    """Read an answer. `cut`: it ended at the limit of its length; `known`: markers that are somebody's, not made up."""
    said = answer.rpartition(_THOUGHT_ENDS)[2].upper()
    alone = frozenset(_WORDS.findall(said))
    whole = [text for text in own if text in alone]
    met = [text for text in markers_in(said) if text in whole]
    rest = said
    for text in (*whole, *known):
        rest = rest.replace(text, " ")
    rest = _LABEL.sub(" ", rest).replace(STOP[:-1], " ")
    if cut:
        rest = re.sub(r"[0-9A-Z-]*\Z", "", rest)  # a marker that was being written is not a changed one
    return Recital(
        recalled=tuple(dict.fromkeys(met)),
        own=own,
        in_order=_in_order([own.index(text) for text in met], len(own)),
        changed=_changed(rest, own, frozenset(whole)),
        corrupt=bool(_SAME.search(said)),
        prose=_A_GROUP_NO_WORD.sub(" ", _LIKE_A_MARKER.sub(" ", rest)),
        had_room=len(said) >= (MARKER_CHARS + 2) * len(own),
    )


def _in_order(indexes: list[int], count: int) -> bool:
    """Rising; or all of them, and then the same once more, as by a model that goes on after its end."""
    if indexes[:count] == list(range(count)):
        return indexes == [at % count for at in range(len(indexes))]
    return all(one < other for one, other in pairwise(indexes))


def _changed(rest: str, own: tuple[str, ...], whole: frozenset[str]) -> int:
    groups = set(_A_GROUP.findall(rest))
    in_part = sum(not groups.isdisjoint(text.split("-")) for text in own if text not in whole)
    return max(in_part, len(_LIKE_A_MARKER.findall(rest)))
