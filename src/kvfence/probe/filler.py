"""Text to fill a prompt with: plain sentences that read naturally and cost every tokenizer alike.

Every block of 35 sentences has each subject, verb, object and end equally often, in an order of its own. So two blocks
have the same phrases and differ in order and numbers only, and what a block costs in tokens is known from any other:
a length that is measured on a short prompt holds for a long one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

_SUBJECTS = ("The harbour office", "Our survey team", "The night shift", "A visiting auditor", "The new archivist")
_VERBS = ("described", "measured", "reviewed", "postponed", "compared", "catalogued", "questioned")
_OBJECTS = ("the river levels", "twelve old maps", "the shipping lists", "a row of cedar trees", "the winter accounts")
_ENDS = ("before the rain began", "with some care", "and left early", "in the east wing", "for a second time")
BLOCK_SENTENCES = 35
"""The least number of sentences in which 5, 7, 5 and 5 phrases all occur equally often."""
_PADDING = (" the", " of", " and", " to", " in", " is", " on", " as", " at", " by", " or", " it", " an", " so")
"""Words that are one token in every tokenizer met, so that text of them can have any number of tokens."""


def filler(rng: random.Random, chars: int) -> str:
    """Exactly `chars` characters; of the same randomness, a shorter one is the start of a longer one."""
    blocks: list[str] = []
    left = chars
    while left > 0:
        block = "".join(_block(rng))
        blocks.append(block)
        left -= len(block)
    return "".join(blocks)[: max(chars, 0)]


def sentence_start(text: str, at: int) -> int:
    """The start of the sentence of a filler that holds character `at`."""
    end = text.rfind(". ", 0, at)
    return 0 if end < 0 else end + 2


def padding(chars: int) -> str:
    """Exactly `chars` characters of short words."""
    words = "".join(_PADDING)
    return (words * (chars // len(words) + 1))[:chars]


def _block(rng: random.Random) -> Iterator[str]:
    columns = [
        rng.sample(phrases * (BLOCK_SENTENCES // len(phrases)), BLOCK_SENTENCES)
        for phrases in (_SUBJECTS, _VERBS, _OBJECTS, _ENDS)
    ]
    for subject, verb, obj, end in zip(*columns, strict=True):
        yield f"{subject} {verb} {obj} {end}, note {rng.randrange(1000, 10_000)}. "
