"""What two exchanges may share for a reason that is none of a leak's: told from their texts."""

from __future__ import annotations

import re

from kvfence.scan.exchange import Exchange

TAIL_CHARS = 2000
"""The question stands at the end of a prompt."""
LAST_CHARS = 64
SAME_QUESTION = 0.9
_WORD = re.compile(r"\w+")


def goes_on_from(later: Exchange, earlier: Exchange) -> bool:
    """Whether one is a later turn of the other's conversation, and so repeats its answer.

    It begins with the other's prompt, or has the end of it right before the answer.
    """
    if not earlier.prompt.strip():
        return earlier.answer.strip()[:LAST_CHARS] in later.prompt
    if later.prompt.startswith(earlier.prompt.rstrip()):
        return len(later.prompt) > len(earlier.prompt)
    joined = (
        _condensed(earlier.prompt[-TAIL_CHARS:])[-LAST_CHARS:] + _condensed(earlier.answer[:TAIL_CHARS])[:LAST_CHARS]
    )
    return joined in _condensed(later.prompt)


def asked_the_same(one: Exchange, other: Exchange) -> bool:
    """Whether the two questions end the same, so that the same answer is no wonder."""
    ends = {_condensed(exchange.prompt[-TAIL_CHARS:])[-LAST_CHARS:] for exchange in (one, other)}
    return len(ends) == 1 or alike(one, other) >= SAME_QUESTION


def alike(one: Exchange, other: Exchange) -> float:
    """How alike two questions are, 0 to 1: the share of words that the ends of the two prompts have in common."""
    ours, theirs = ({*_WORD.findall(exchange.prompt[-TAIL_CHARS:].casefold())} for exchange in (one, other))
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def conversations(some: list[Exchange]) -> int:
    """How many conversations these are of, where each next turn begins with the whole prompt of the last."""
    firsts: list[str] = []
    for exchange in sorted(some, key=lambda one: len(one.prompt)):
        if not any(exchange.prompt.startswith(first) for first in firsts):
            firsts.append(exchange.prompt)
    return len(firsts)


def _condensed(text: str) -> str:
    return "".join(text.split())
