"""How many tokens a text makes, without its tokenizer: at least, at most, and most likely."""

from __future__ import annotations

WINDOW_CHARS = 16_384
WINDOWS = 8
"""A longer text is counted in so many windows, spread evenly: their mean is that of the whole to a few per cent."""
BYTES_PER_TOKEN_LIKELY = 4.2
"""Between code (3.5), English and Chinese (4.5)."""
BYTES_PER_TOKEN_MAX = 24
"""Of text without blanks. Of eight languages and code under four tokenizers the most was 7; docs/scan-signs.md."""


def byte_count(text: str) -> int:
    """Bytes of UTF-8; of a text whose characters are all ASCII without encoding it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def tokens_least(text: str) -> float:
    """No tokenizer in use makes fewer: each one parts at blanks, and no token is longer than a long word."""
    if len(text) <= WINDOW_CHARS * WINDOWS:
        return _least(text)
    step = (len(text) - WINDOW_CHARS) // (WINDOWS - 1)
    windows = (text[at * step : at * step + WINDOW_CHARS] for at in range(WINDOWS))
    return sum(map(_least, windows)) * len(text) / (WINDOW_CHARS * WINDOWS)


def tokens_most(text: str) -> int:
    """No byte-level tokenizer makes more than one a byte."""
    return byte_count(text)


def tokens_likely(text: str) -> float:
    """Right to a third either way for prose and code."""
    return byte_count(text) / BYTES_PER_TOKEN_LIKELY


def _least(text: str) -> float:
    words = text.split()
    return max(len(words), sum(map(byte_count, words)) / BYTES_PER_TOKEN_MAX)
