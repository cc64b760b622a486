"""What is shown of a stretch of a customer's text: four characters, or its plain words where one asks for them.

A list of what secrets look like always lacks one, and a stretch begins or ends in the middle of words. So what may be
read is told by what a plain word looks like, and everything else is left out.
"""

from __future__ import annotations

import re
from enum import StrEnum

from kvfence.findings.redact import masked, without_secrets

READABLE_CHARS_MAX = 240
"""Of a stretch that is shown to be read: enough to know what it is, a fraction of what it was."""
LEFT_OUT = "…"

_WORD_CHARS_MAX = 16
_CAPITALS_MAX = 6
_CHUNK_CHARS_MAX = 40
_SAID = re.compile(
    r"(?i)\b((?:pass(?:word|wd|phrase)?|pwd|pin|secret|token|key|login)\b(?:\s+\w+)?\s*(?:is|was|[:=])\s*)(\S+)"
)
_CHUNK = re.compile(r"\S+")
_RUN = re.compile(r"[A-Za-z0-9]+")


class Preview(StrEnum):
    """How much of a stretch is shown."""

    REDACTED = "redacted"
    READABLE = "readable"


def preview_of(stretch: str, how: Preview) -> str:
    """A line to print. However it is shown, no figure, no address, and nothing that might be a key is in it."""
    text = stretch.strip()
    if how is Preview.REDACTED:
        return _printable(masked(text))
    start = text[: 4 * READABLE_CHARS_MAX]
    said = _SAID.sub(rf"\g<1>{LEFT_OUT}", without_secrets(start))
    words = _CHUNK.sub(_plain_or_nothing, _printable(said)).split()
    shown = " ".join(word for at, word in enumerate(words) if word != LEFT_OUT or words[at - 1 : at] != [LEFT_OUT])
    cut = shown[:READABLE_CHARS_MAX]
    is_all = len(cut) == len(shown) and len(start) == len(text)
    return cut if is_all else f"{cut}{LEFT_OUT} (of {len(text)} characters)"


def _plain_or_nothing(found: re.Match[str]) -> str:
    chunk = found.group()
    runs = _RUN.findall(chunk)
    is_plain = "@" not in chunk and sum(map(len, runs)) <= _CHUNK_CHARS_MAX and all(map(_is_word, runs))
    return re.sub(r"\d", "#", chunk) if is_plain else LEFT_OUT


def _is_word(run: str) -> bool:
    """Letters as words have them, or figures, which are shown as `#`. Letters that are not Latin are always words."""
    if run.isdigit():
        return True
    if not run.isalpha() or len(run) > _WORD_CHARS_MAX:
        return False
    return run[1:].islower() or (run.isupper() and len(run) <= _CAPITALS_MAX) or len(run) == 1


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
