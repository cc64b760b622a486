"""What must hold, by name: I1 to I8 of the design, no foreign text, and that everything ends.

A layer's promise is asked of rules that have the layer; no foreign text, and liveness, of all rules.
"""

from __future__ import annotations

from enum import StrEnum


class Property(StrEnum):
    """What a trace breaks."""

    FOREIGN_TEXT = "foreign-text"
    """No slot is read whose last writer was another tenant."""
    REFUSAL = "I1"
    """A worker holds pages only for a request that it can hold."""
    SEAL = "I2"
    """What is read is the request's own prompt, whole and in order."""
    STALE_WRITER = "I3"
    """A write lands only in pages that are still its room's to fill."""
    STALE_READER = "I4"
    """No answer rests on a read during which its pages changed hands."""
    OLD_TEXT = "I5"
    """A page that changed tenant carries nothing of the last one when a peer may fill it."""
    SHARING = "I6"
    """A page shared with a room is its own tenant's."""
    LIMIT = "I7"
    """The router promises no more than the workers can hold."""
    LOUD = "I8"
    """A request whose check failed ends with an error, and gets no answer."""
    CONSERVATION = "conservation"
    """Every page is in one state, and the free order holds the free ones."""
    TABLES = "tables"
    """Whatever happens, core's tables have it."""
    ENDS = "every-request-ends"
    PAGES_COME_BACK = "every-page-comes-back"
    TOLD = "nobody-waits-untold"
    """Where no message was lost and nobody died, nobody needs a time-out to get on."""
    NO_CIRCLE = "no-circle"
    """Work that only goes on ends."""


class Broken(Exception):  # noqa: N818 — what it says is that a promise is broken; the search catches it
    """A promise that does not hold in the state that was being made."""

    def __init__(self, promise: Property, why: str) -> None:
        super().__init__(f"{promise}: {why}")
        self.promise = promise
        self.why = why
