"""What must hold, by name: no foreign text, I1 to I8 of the design, and that everything ends.

A layer's promise is asked of rules that have the layer; no foreign text, and that everything ends, of all rules.
"""

from __future__ import annotations

from enum import StrEnum


class Property(StrEnum):
    """What a trace breaks."""

    FOREIGN_TEXT = "foreign-text"
    REFUSAL = "I1"
    SEAL = "I2"
    STALE_WRITER = "I3"
    STALE_READER = "I4"
    OLD_TEXT = "I5"
    SHARING = "I6"
    LIMIT = "I7"
    LOUD = "I8"
    CONSERVATION = "conservation"
    TABLES = "tables"
    ENDS = "every-request-ends"
    PAGES_COME_BACK = "every-page-comes-back"
    TOLD = "nobody-waits-untold"
    NO_CIRCLE = "no-circle"


MEANS = {
    Property.FOREIGN_TEXT: "No slot is read whose last writer was another tenant.",
    Property.REFUSAL: "A worker runs no request that it has refused.",
    Property.SEAL: "What is read is the request's own prompt and answer, whole and in order.",
    Property.STALE_WRITER: "A write lands only in a page that is still its room's.",
    Property.STALE_READER: "No answer rests on a read during which its pages changed hands.",
    Property.OLD_TEXT: "A page that changes tenant carries nothing of the last one.",
    Property.SHARING: "A page shared with a room is its own tenant's.",
    Property.LIMIT: "The router promises no pages that a failed check took away.",
    Property.LOUD: "A request whose check failed gets no answer.",
    Property.CONSERVATION: "Every page is in one state, and the free order holds the free ones.",
    Property.TABLES: "Whatever happens, core's tables have a row for it.",
    Property.ENDS: "Every request has one end, and its client hears of it.",
    Property.PAGES_COME_BACK: "Every page is given back.",
    Property.TOLD: "Where no message was lost and nobody died, nobody needs a time-out to get on.",
    Property.NO_CIRCLE: "What is under way does not go on for ever.",
}


class Broken(Exception):  # noqa: N818 — what it says is that a promise is broken; the search catches it
    """A promise that does not hold in the state that was being made."""

    def __init__(self, promise: Property, why: str) -> None:
        super().__init__(f"{promise}: {why}")
        self.promise = promise
        self.why = why
