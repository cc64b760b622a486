"""Prompts that carry markers, built from a recipe: a seed and a size, never a stored megabyte.

    filler
    1-CODE-1: <marker>; 2-CODE-2:
    filler
    2-CODE-2: <marker>; 3-CODE-3:
    filler
    3-CODE-3: <marker>; END.
    filler
    the ask, which ends in:  1-CODE-1:

The shape suits a chat model, which is asked in words, and an induction model, which goes on where the last 8 bytes
stood before: each marker is followed by the next label, and that label last stood before the next marker. A label
is told from the others at both of its ends, so that it is chosen rightly after a marker and continued rightly after
itself. The ask has no label but at its end. Labels are the same for every tenant on purpose: stale pages then answer
with the marker of whoever filled them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from kvfence.probe.markers import Marker, Place, make_marker

DEPTHS = 3
"""Start, middle and end of the prompt."""
ANSWER_TOKENS = 160
"""Enough for three markers with labels where a token is one byte; fewer are needed elsewhere."""
STOP = "END."

_ASK = (
    "\nThe document above holds canary codes. Write them again in their order, each after its own label and separated "
    f"by semicolons, then {STOP[:-1]} and a full stop. Write nothing else.\n"
)
_SUBJECTS = ("The harbour office", "Our survey team", "The night shift", "A visiting auditor", "The new archivist")
_VERBS = ("described", "measured", "reviewed", "postponed", "compared", "catalogued", "questioned")
_OBJECTS = ("the river levels", "twelve old maps", "the shipping lists", "a row of cedar trees", "the winter accounts")
_ENDS = ("before the rain began", "with some care", "and left early", "in the east wing", "for a second time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that is needed to build a prompt again."""

    seed: int
    tenant: str
    request: int
    filler_chars: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and the markers in it, in order."""

    text: str
    markers: tuple[Marker, ...]


def label(depth: int) -> str:
    """What stands before the marker of a depth, from 1."""
    return f"{depth}-CODE-{depth}: "


def build(recipe: Recipe, key: bytes) -> Prompt:
    """The prompt of a recipe: the same recipe and key always give the same text."""
    rng = _randomness(recipe, "filler")
    markers = markers_of(recipe, key)
    head = f"Document {rng.randrange(10**9):09d}.\n"  # the first page is already unlike any other prompt's
    filler = _filler(rng, recipe.filler_chars)
    cuts = [len(filler) * part // DEPTHS for part in range(DEPTHS)]
    parts = [head, filler[: cuts[1] // 8]]
    rest = [cuts[1] // 8, (cuts[1] + cuts[2]) // 2, len(filler) - cuts[1] // 8]
    for depth, (marker, start) in enumerate(zip(markers, rest, strict=True), start=1):
        follow = label(depth + 1) if depth < DEPTHS else STOP
        stop = rest[depth] if depth < DEPTHS else len(filler)
        parts.append(f"\n{label(depth)}{marker.text}; {follow}\n{filler[start:stop]}")
    return Prompt("".join(parts) + _ASK + label(1), markers)


def markers_of(recipe: Recipe, key: bytes) -> tuple[Marker, ...]:
    """The markers of a recipe's prompt, without building the prompt."""
    rng = _randomness(recipe, "markers")
    return tuple(make_marker(rng, key, Place(recipe.tenant, recipe.request, depth)) for depth in range(1, DEPTHS + 1))


def _randomness(recipe: Recipe, purpose: str) -> random.Random:
    """Replayable on purpose: the unpredictable part of a campaign is its seed."""
    return random.Random(f"{recipe.seed}/{recipe.tenant}/{recipe.request}/{purpose}")  # noqa: S311 — see above


def fixed_chars() -> int:
    """Characters of a prompt without any filler."""
    recipe = Recipe(seed=0, tenant="", request=0, filler_chars=0)
    return len(build(recipe, b"").text)


def _filler(rng: random.Random, chars: int) -> str:
    """Plain sentences, exactly `chars` characters of them."""
    sentences: list[str] = []
    left = chars
    while left > 0:
        words = f"{rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)} {rng.choice(_ENDS)}"
        sentence = f"{words}, note {rng.randrange(10_000)}. "
        sentences.append(sentence)
        left -= len(sentence)
    return "".join(sentences)[: max(chars, 0)]
