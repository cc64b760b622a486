"""Text to hide things in: this repository's own documents."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONG = 27_000
"""Bytes: more than the cell's prefill pool holds by default (21,299), less than it promises (32,768)."""


def haystack() -> str:
    """All documents in one."""
    return "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("docs/**/*.md")))


def long_enough(text: str) -> str:
    """A prompt of `LONG` characters that ends in `text`."""
    return haystack()[: LONG - len(text)] + "\n\n" + text
