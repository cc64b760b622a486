"""A word of a command as it will be, and what of it is not known before it runs. No syntax of anything lives here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TEMPLATE = "\ue000"
"""Stands in a text where a Go template stood, which is filled in before anything runs."""


NO_BREAK = "\u00a0"
"""Stands for a blank inside an expression that only the run knows, so that it stays one word."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word. Where a hole is, its text holds the expression as it was written."""

    text: str
    line: int
    holes: tuple[str, ...] = ()
    """What only the run knows: `$TP`, `$(hostname)`, `{{ .Values.tp }}`."""
    defaults: tuple[str, ...] = ()
    """Variables whose default stands in it: it holds unless the environment sets them."""
    many: bool = False
    """It may become several words, or none: `$EXTRA_ARGS`, `"$@"`."""

    @property
    def known(self) -> bool:
        """Whether it will be exactly this text."""
        return not self.holes


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The words of one simple command, and the variables that it is given."""

    words: tuple[Word, ...]
    env: Mapping[str, Word] = field(default_factory=dict)
    perhaps: bool = False
    """It stands under a condition, in a loop or in a function."""
