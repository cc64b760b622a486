"""How surprising it is that two requests share a stretch. It orders matches; it is no probability."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

SAYS_LITTLE_BYTES = 24
"""Compressed smaller than this, a stretch is a rule, a padding or a row of numbers: nobody's text."""
_HEADER_BYTES = 11
_TYPICAL_BYTES = 96
_OF_ANSWER = 0.6
_UNKNOWN_TENANT = 0.8
_UNKNOWN_ORDER = 0.8


def said_bytes(stretch: bytes) -> int:
    """How much a stretch says: its size where it is compressed, without what zlib puts around it."""
    return max(0, len(zlib.compress(stretch, 9)) - _HEADER_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """Of a match, besides its text."""

    candidates: int
    in_prompt: bool
    across_tenants: bool
    is_in_order: bool
    """Whether the log says that the source began before the answer ended."""
    alike: float
    """How alike the two questions are, 0 to 1: alike questions have alike answers."""


def surprise(stretch: bytes, circumstances: Circumstances) -> float:
    """0 to 1: more for a longer stretch that says more, and less for each thing that may explain it."""
    score = 1 - math.exp(-said_bytes(stretch) / _TYPICAL_BYTES)
    score /= math.sqrt(max(1, circumstances.candidates))
    if not circumstances.in_prompt:
        score *= _OF_ANSWER * (1 - circumstances.alike)
    if not circumstances.across_tenants:
        score *= _UNKNOWN_TENANT
    return score if circumstances.is_in_order else score * _UNKNOWN_ORDER
