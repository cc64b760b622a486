"""What a node was read from, as a sentence calls it: a gap must not send somebody to a log that was never given."""

from __future__ import annotations

from enum import StrEnum

from kvfence.audit.deployment import from_endpoint
from kvfence.facts.fact import NodeFacts


class Source(StrEnum):
    """Its words."""

    COMMAND = "the launch command"
    LIVE = "what the endpoint says"
    SAVED = "the saved answer"
    LOG = "the log"


def source_of(node: NodeFacts) -> Source:
    """Where most is known from; of a server that answers and its log, the server."""
    if node.planned:
        return Source.COMMAND
    if from_endpoint(node):
        return Source.LIVE
    # Only a field of an answer has no line.
    return Source.SAVED if any(fact.seen.line is None for fact in node.facts.values()) else Source.LOG
