"""What a rule of our own is, and what it finds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A secret in one text, while that text is looked at."""

    at: int
    """Bytes of UTF-8 from the text's beginning."""
    length: int
    """Bytes."""
    kind: str
    named: bytes = field(repr=False)
    """What its fingerprint is made of: the same however it was written."""
    redacted: str


def always(_match: re.Match[bytes]) -> bool:
    """Whatever has the shape is one."""
    return True


def as_written(match: re.Match[bytes]) -> bytes:
    """The group `secret`."""
    return match["secret"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A kind of secret, by its shape."""

    kind: str
    pattern: bytes
    """Has a group `secret`. Hyperscan must be able to compile it as a prefilter."""
    public: int = 0
    """How many of the secret's first bytes say its kind alone."""
    is_one: Callable[[re.Match[bytes]], bool] = always
    """What the shape cannot say: a checksum, a placeholder."""
    named: Callable[[re.Match[bytes]], bytes] = as_written
    reach_bytes: int = 0
    """Where it can be longer than a stretch's margin: how much of the text from its beginning is looked at."""
    begins: bytes = b""
    """Of such a one, the pattern that the first look goes by."""
    said: str = ""
    """What is shown in place of its first bytes, where they are somebody's."""
