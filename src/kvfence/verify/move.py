"""What can happen, by name: a move names one thing in one world, and the same thing when that world is made again."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from kvfence.core.ids import Role
from kvfence.verify.world import World


class Kind(StrEnum):
    """What sort of thing happens."""

    ASK = "ask"
    DELIVER = "deliver"
    COMPUTE = "compute"
    LAND = "land"
    NOT_POSTED = "not-posted"
    READ = "read"
    END_READ = "end-read"
    END_ANSWER = "end-answer"
    NOTICE = "notice"
    LOSE_PATIENCE = "lose-patience"
    """A time-out after which nothing else can go on: something was lost before."""
    HANG_UP = "hang-up"
    TIME_OUT = "time-out"
    DUPLICATE = "duplicate"
    DROP = "drop"
    PRESENT = "present"
    """A caller brings a reference that was made for another request; `at` is that one's room."""
    FORGE = "forge"
    """A caller brings a reference of its own making."""
    CRASH = "crash"
    COME_BACK = "come-back"


CHOSEN = frozenset(
    {
        *(Kind.ASK, Kind.HANG_UP, Kind.TIME_OUT, Kind.DUPLICATE, Kind.DROP),
        *(Kind.PRESENT, Kind.FORGE, Kind.CRASH, Kind.COME_BACK),
    },
)
"""What need never happen. Everything else is under way, and happens in the end."""


class Move(NamedTuple):
    """One thing that can happen."""

    kind: Kind
    room: int = 0
    role: Role | None = None
    """The worker that does it or whom it befalls; who receives; who is told."""
    sender: Role | None = None
    """Who sent it; who is lost."""
    event: str = ""
    at: int = 0
    """Which page, which shape of a request, which of several like letters."""
    tenant: int = 0


Happening = tuple[Move, Callable[[], World]]
"""A move and how to make it: the world after it, or `Broken`."""
