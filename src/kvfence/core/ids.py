"""Names that must not be mixed up. A type checker tells them apart; at run time they cost nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import NewType

PageId = NewType("PageId", int)
"""Place of a page in one worker's pool, from 0."""
Epoch = NewType("Epoch", int)
"""How often a page has changed hands: a fencing token. It only grows."""
RoomId = NewType("RoomId", int)
"""One request's handoff between one prefill and one decode worker. Never used twice."""
TenantId = NewType("TenantId", str)
"""Whoever must not see another's text."""
Digest = NewType("Digest", bytes)
"""16 bytes over one page, seeded by its room."""
PrefixKey = NewType("PrefixKey", bytes)
"""A collision-resistant hash of all tokens up to the end of one full page."""


class Role(StrEnum):
    """Who runs a side of a room."""

    ROUTER = "router"
    PREFILL = "prefill"
    DECODE = "decode"
