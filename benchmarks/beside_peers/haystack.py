"""Text to hide things in: this repository's own documents."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FITS, TOO_LONG = 20_000, 27_000
"""Characters: the cell's prefill pool holds 21,299 by default; it promises 32,768."""


def haystack() -> str:
    """All documents in one."""
    return "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("docs/**/*.md")))


def fits(text: str) -> str:
    """A long prompt that ends in `text` and fits."""
    return haystack()[: FITS - len(text)] + "\n\n" + text


def too_long(text: str) -> str:
    """A prompt that ends in `text` and does not fit, though it is within what is promised."""
    return haystack()[: TOO_LONG - len(text)] + "\n\n" + text
