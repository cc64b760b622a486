"""The checks by name, and `Violation`: what is raised when our own rules are broken.

A peer that says something false does not raise: it yields a `Mismatch`, which ends one request (I8). A `Violation`
means that this program is wrong, or was asked for something that its table does not have; the state before it stays
whole, since states are frozen. `assert` is not used: it vanishes under `-O`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Check(StrEnum):
    """Every check of the handoff; the name goes into logs, metrics and error answers."""

    ADMISSION = "I1"
    COUNT = "I2-count"
    BINDING = "I2-binding"
    DIGEST = "I2-digest"
    STALE_WRITER = "I3"
    STALE_READER = "I4"
    SHARING = "I6"
    LIMIT = "I7"
    CONSERVATION = "conservation"
    ILLEGAL_EVENT = "illegal-event"
    ILLEGAL_PAGE_MOVE = "illegal-page-move"
    FORGED = "forged-value"
    TIMED_OUT = "handoff-timed-out"
    WORKER_LOST = "worker-lost"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A check that failed on what a peer sent or left in the pool. It ends that one request."""

    check: Check
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.check}: expected {self.expected}, got {self.got}"


class Violation(Exception):  # noqa: N818 — the design's word for it
    """Our own rules were broken. Carries the check; never a customer's text."""

    def __init__(self, check: Check, message: str) -> None:
        super().__init__(f"{check}: {message}")
        self.check = check
