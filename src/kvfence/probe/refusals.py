"""What an HTTP status says of a prompt's length: answered, refused for it, or nothing. Pure."""

from __future__ import annotations

import re

from kvfence.findings.recall import LengthVerdict

SUCCESS = 200
REFUSALS = frozenset({400, 413, 414, 422, 431})
"""What a prompt that is too long is answered with. Other 4xx (a key, a rate, a path) say nothing of its length."""
_ALWAYS_OF_SIZE = frozenset({413, 414, 431})
_OF_LENGTH = re.compile(
    r"context|too (?:long|large|many)|exceed|tokens\b|token (?:limit|count)|length|maximum|\bsize\b"
    r"|\u957f\u5ea6|\u4e0a\u4e0b\u6587",  # length and context in Chinese
    re.IGNORECASE,
)
_OF_SOMETHING_ELSE = re.compile(
    r"api.?key|credit|balance|billing|quota|payment|content.?(?:policy|management|filter)|safety|moderation|permission"
    r"|rate.?limit|arrears",
    re.IGNORECASE,
)
"""Also answered with a 400: an empty account (Anthropic), a content filter (Azure), a wrong key (Gemini)."""


def verdict_without_answer(status: int | None, detail: str) -> LengthVerdict:
    """Of anything but a success: refused for its length, or an error that says nothing of it.

    A 400 that names neither its length nor another cause is a refusal: a shorter prompt of the same form was taken.
    """
    if status in _ALWAYS_OF_SIZE:
        return LengthVerdict.REFUSED
    if status not in REFUSALS:
        return LengthVerdict.ERROR
    other = _OF_SOMETHING_ELSE.search(detail) and not _OF_LENGTH.search(detail)
    return LengthVerdict.ERROR if other else LengthVerdict.REFUSED
