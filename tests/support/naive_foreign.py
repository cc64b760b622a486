"""Foreign text by brute force: every window of every text, in sets. For small logs; shares no code with the search.

What it says, for each answer: whose requests have at least `RUN` bytes in a row of it, where no byte of the run lies in
a run of `OWN` bytes that the owner's own prompts up to then have, and no more than `most` owners have the run. A prompt
may have come while the answer was still being written; of two answers the later one has it from the earlier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

RUN, OWN = 64, 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An exchange as the reference sees it."""

    id: str
    owner: str
    at_s: float
    prompt: bytes
    answer: bytes


def windows(text: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Every one, with where it begins."""
    return ((at, text[at : at + size]) for at in range(len(text) - size + 1))


def foreign(said: Iterable[Said], most: int, *, ends_after_s: float = 3600) -> set[tuple[str, str]]:
    """Pairs of an answer's id and the owner whose text it has."""
    said = sorted(said, key=lambda one: one.at_s)
    wanted: set[bytes] = {window for one in said for _, window in windows(one.answer, RUN)}
    has: dict[bytes, list[tuple[float, str]]] = defaultdict(list)
    for one in said:
        for text, from_s in ((one.prompt, one.at_s - ends_after_s), (one.answer, one.at_s)):
            for window in {window for _, window in windows(text, RUN)} & wanted:
                has[window].append((from_s, one.owner))
    own_prompts: dict[str, list[bytes]] = defaultdict(list)
    pairs: set[tuple[str, str]] = set()
    for one in said:
        own_prompts[one.owner].append(one.prompt)
        held = {window for _, window in windows(one.answer, RUN) if len(has[window]) > 1}
        others = {window: _others(has[window], one) for window in held}
        others = {window: owners for window, owners in others.items() if 0 < len(owners) <= most}
        if others:
            explained = _explained(one.answer, own_prompts[one.owner])
            for at, window in windows(one.answer, RUN):
                if window in others and not any(explained[at : at + RUN]):
                    pairs |= {(one.id, owner) for owner in others[window]}
    return pairs


def _others(having: list[tuple[float, str]], one: Said) -> set[str]:
    return {owner for from_s, owner in having if owner != one.owner and from_s < one.at_s}


def _explained(answer: bytes, prompts: list[bytes]) -> list[bool]:
    ours = {window for _, window in windows(answer, OWN)}
    own = {window for prompt in prompts for _, window in windows(prompt, OWN) if window in ours}
    explained = [False] * len(answer)
    for at, window in windows(answer, OWN):
        if window in own:
            explained[at : at + OWN] = [True] * OWN
    return explained
