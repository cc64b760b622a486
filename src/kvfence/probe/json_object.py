"""A small JSON object that is to be given back exactly. Pure.

One wrong character is enough to break it or to change a value, so it shows corruption that a list of markers may hide:
vllm #50702 counted 13.3 % corrupted objects where none was with another cache. Its values are the prompt's markers, so
that a spliced one can be attributed, and numbers, which no repetition elsewhere helps to guess. Every key is told from
all others at both of its ends, for a model that copies by the last few characters, as labels are.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence


def object_text(markers: Sequence[str], rng: random.Random) -> str:
    """The object, without any white space."""
    values = (value for text in markers for value in (text, rng.randrange(10_000, 100_000)))
    fields = {f"{number:03d}-v-{number:03d}": value for number, value in enumerate(values)}
    return json.dumps({**fields, "open": True, "note": None}, separators=(",", ":"))
