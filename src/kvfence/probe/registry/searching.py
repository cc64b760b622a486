"""Whose the markers in any text are: a customer's complaint, a log of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import TextIOBase

from kvfence.findings.origin import MarkerSight
from kvfence.findings.redact import masked
from kvfence.probe.markers import MARKER_CHARS, is_ours, markers_in, pieces_in
from kvfence.probe.registry.planted import Remembered

WINDOW_CHARS = 1 << 20
"""A longer line is read in parts, so that memory is bounded."""

STRANGERS_TRIED = 20
"""How many markers of one text are looked for by seed: some 20 ms each for every campaign that is known."""

Lookup = Callable[[frozenset[str]], Iterable[Remembered]]
BySeed = Callable[[str], Remembered | None]


def sights_in(text: TextIOBase, where: str, whose: Lookup, by_seed: BySeed) -> Iterator[MarkerSight]:
    """The markers in a text, each once, at the first line that has it: those known, and strangers with the sign.

    `whose` knows what was remembered; `by_seed` a whole marker that was not, and that the seed of a campaign makes.
    """
    told: set[str] = set()
    tries = iter(range(STRANGERS_TRIED))
    for line, part in _windows(text):
        pieces = pieces_in(part)
        if not pieces:
            continue
        whole = markers_in(part)
        known = {one.text: one for one in whose(pieces)}
        strangers = (marker for marker in dict.fromkeys(whole) if marker not in known and is_ours(marker))
        for marker, one in (
            *known.items(),
            *((marker, by_seed(marker) if next(tries, None) is not None else None) for marker in strangers),
        ):
            if marker not in told:
                told.add(marker)
                yield _sight(marker, one, where=where, line=line, is_whole=marker in whole)


def _sight(marker: str, one: Remembered | None, *, where: str, line: int, is_whole: bool) -> MarkerSight:
    stranger = MarkerSight(where=where, line=line, shown=masked(marker), is_whole=is_whole, planted_by=None)
    if one is None:
        return stranger
    return replace(stranger, planted_by=one.tenant, depth=one.depth, prompt_tokens=one.tokens, origin=one.origin)


def _windows(text: TextIOBase) -> Iterator[tuple[int, str]]:
    """Each line with its number, from 1; a long one in parts, of which each begins with the end of the one before."""
    number, before = 1, ""
    while part := text.readline(WINDOW_CHARS):
        yield number, before + part
        if part.endswith("\n"):
            number, before = number + 1, ""
        else:
            before = (before + part)[-MARKER_CHARS:]
