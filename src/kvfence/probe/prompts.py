"""Prompts that carry markers, built from a recipe: a seed and a size, never a stored megabyte.

    a nonce
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
itself; for that all labels of a prompt are equally long. The ask has no label but at its end. Labels are the same for
every tenant on purpose: stale pages then answer with the marker of whoever filled them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise

from kvfence.probe.filler import filler, padding, sentence_start
from kvfence.probe.json_object import object_text
from kvfence.probe.markers import MARKER_CHARS, Marker, Place, make_marker

DEPTHS = 5
DEPTHS_MAX = 64
STOP = "END."
ANSWER_MARGIN_TOKENS = 32
"""For a word before the first marker and a stop after the last."""

_ASK_JSON = (
    "\nThe document above holds one JSON object in a single line. Write that object again, every key and value "
    f"exactly as it stands there, then {STOP[:-1]} and a full stop. Write nothing else.\n"
)
_ASK = (
    "\nThe document above holds canary codes. Write them again in their order, each after its own label and separated "
    f"by semicolons, then {STOP[:-1]} and a full stop. Write nothing else.\n"
)


class Prefix(StrEnum):
    """What a prompt begins with."""

    UNIQUE = "unique"
    """A nonce: its first page is already unlike any other prompt's."""
    SHARED = "shared"
    """Half of its filler, which is every other such prompt's as well."""


class Ask(StrEnum):
    """What is to come back."""

    CODES = "codes"
    """Every marker, in order."""
    JSON = "json"
    """One JSON object, exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """In what a prompt differs from a plain one."""

    prefix: Prefix = Prefix.UNIQUE
    ask: Ask = Ask.CODES


PLAIN = Form()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that is needed to build a prompt again."""

    seed: int
    tenant: str
    request: int
    filler_chars: int
    pad_chars: int = 0
    """Of short words behind the nonce, by which a length is made exact without moving anything else."""
    depths: int = DEPTHS
    """How many markers, from the start of the prompt to its end."""
    form: Form = PLAIN


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and the markers in it, in order."""

    text: str
    markers: tuple[Marker, ...]


def label(depth: int, depths: int) -> str:
    """What stands before the marker of a depth, from 1."""
    number = f"{depth:0{len(str(depths))}d}"
    return f"{number}-CODE-{number}: "


def answer_tokens(depths: int, ask: Ask = Ask.CODES) -> int:
    """Enough for all that is asked for where a token is one byte; fewer are needed elsewhere."""
    if ask is Ask.JSON:
        return ANSWER_MARGIN_TOKENS + len(
            object_of(Recipe(seed=0, tenant="", request=0, filler_chars=0, depths=depths), b"")
        )
    return ANSWER_MARGIN_TOKENS + depths * (MARKER_CHARS + len("; ") + len(label(1, depths)))


def build(recipe: Recipe, key: bytes) -> Prompt:
    """The prompt of a recipe: the same recipe and key always give the same text."""
    rng = _randomness(recipe, "filler")
    markers, depths = markers_of(recipe, key), recipe.depths
    shared = recipe.filler_chars // 2 if recipe.form.prefix is Prefix.SHARED else 0
    head = filler(_shared_by_all(recipe), shared) + "\n" * bool(shared) + opening(recipe)
    text = filler(rng, recipe.filler_chars - shared)
    if recipe.form.ask is Ask.JSON:
        half = sentence_start(text, len(text) // 2)
        line = f"\n{label(1, depths)}{object_of(recipe, key)}; {STOP}\n"
        return Prompt(head + text[:half] + line + text[half:] + _ASK_JSON + label(1, depths), markers)
    # In the middle of equal parts, so that the first and the last marker are near the ends, and not at them.
    starts = [sentence_start(text, len(text) * (2 * part + 1) // (2 * depths)) for part in range(depths)]
    parts = [head, text[: starts[0]]]
    for depth, (marker, (start, stop)) in enumerate(zip(markers, pairwise([*starts, len(text)]), strict=True), start=1):
        follow = label(depth + 1, depths) if depth < depths else STOP
        parts.append(f"\n{label(depth, depths)}{marker.text}; {follow}\n{text[start:stop]}")
    return Prompt("".join(parts) + _ASK + label(1, depths), markers)


def opening(recipe: Recipe) -> str:
    """The first line: a nonce, so that the first page is already unlike any other prompt's; and the padding."""
    nonce = _randomness(recipe, "nonce").randrange(10**9)
    return f"Document {nonce:09d}.{padding(recipe.pad_chars)}\n"


def markers_of(recipe: Recipe, key: bytes) -> tuple[Marker, ...]:
    """The markers of a recipe's prompt, without building the prompt."""
    rng = _randomness(recipe, "markers")
    places = (Place(recipe.tenant, recipe.request, depth) for depth in range(1, recipe.depths + 1))
    return tuple(make_marker(rng, key, place) for place in places)


def object_of(recipe: Recipe, key: bytes) -> str:
    """The JSON object of a recipe's prompt, where it asks for one."""
    return object_text([marker.text for marker in markers_of(recipe, key)], _randomness(recipe, "object"))


@cache
def fixed_chars(depths: int, ask: Ask = Ask.CODES) -> int:
    """Characters of a prompt without any filler: no prompt is shorter, and none of these has more tokens than that."""
    recipe = Recipe(seed=0, tenant="", request=0, filler_chars=0, depths=depths, form=Form(ask=ask))
    return len(build(recipe, b"").text)


def _shared_by_all(recipe: Recipe) -> random.Random:
    return random.Random(f"{recipe.seed}/shared prefix")  # noqa: S311 — as below


def _randomness(recipe: Recipe, purpose: str) -> random.Random:
    """Replayable on purpose: the unpredictable part of a campaign is its seed."""
    return random.Random(f"{recipe.seed}/{recipe.tenant}/{recipe.request}/{purpose}")  # noqa: S311 — see above
